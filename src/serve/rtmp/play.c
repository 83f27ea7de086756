/* SPDX-License-Identifier: MIT */
/* play.c - sends a live stream to a player. */
#include "serve/rtmp/play.h"

#include "base/container_of.h"
#include "base/log.h"
#include "wire/rtmp.h"

/* ---- messages from and to players, of live streams and of files */

err_t rtmp_play_message(struct session_player *p, struct rtmp_session *s, struct rtmp_msg *msg,
                        rtmp_play_command *on_command)
{
    struct rtmp_command c = { 0 };
    err_t err = NULL;

    if (msg->type == RTMP_COMMAND || msg->type == RTMP_COMMAND_AMF3) {
        err = rtmp_command_parse(&c, msg);
        if (!err)
            err = on_command(p, &c, msg);
        rtmp_command_free(&c);
    }
    rtmp_conn_release(&s->conn, msg);
    return err;
}

err_t rtmp_play_read(struct session_player *p, struct rtmp_session *s,
                     rtmp_play_command *on_command)
{
    struct rtmp_conn *conn = &s->conn;
    struct rtmp_msg msg;
    err_t err = rtmp_conn_poll(conn);

    while (!err && !p->sender.done && rtmp_conn_pop(conn, &msg)) {
        err = rtmp_play_message(p, s, &msg, on_command);
        co_yield_if_due();
    }
    if (!err && rtmp_conn_has_replies(conn))
        err = rtmp_conn_flush(conn);
    return err;
}

err_t rtmp_play_started(struct rtmp_session *s, bool recorded)
{
    struct rtmp_batch b;

    rtmp_batch_begin(&b, s);
    if (recorded)
        rtmp_conn_put_event(&s->conn, &b.out, RTMP_STREAM_IS_RECORDED, s->stream_id, 0);
    rtmp_conn_put_event(&s->conn, &b.out, RTMP_STREAM_BEGIN, s->stream_id, 0);
    rtmp_batch_put_status(&b, RTMP_PLAY_RESET, NULL);
    rtmp_batch_put_status(&b, RTMP_PLAY_START, NULL);
    rtmp_reply_sample_access(&b.body, true, true);
    rtmp_batch_put(&b, RTMP_DATA, s->stream_id);
    return rtmp_batch_send(&b);
}

err_t rtmp_play_pause(struct session_player *p, struct rtmp_session *s, bool paused)
{
    struct rtmp_batch b;

    rtmp_batch_begin(&b, s);
    rtmp_batch_put_status(&b, paused ? RTMP_PAUSE_NOTIFY : RTMP_UNPAUSE_NOTIFY, NULL);
    rtmp_conn_put_event(&s->conn, &b.out, paused ? RTMP_STREAM_EOF : RTMP_STREAM_BEGIN,
                        s->stream_id, 0);
    live_sender_pause(&p->sender, paused);
    log_trace("player %s", paused ? "pauses" : "resumes");
    return rtmp_batch_send(&b);
}

err_t rtmp_play_reject(struct rtmp_session *s, enum rtmp_status status, const char *text, err_t why)
{
    err_t reply_err = rtmp_session_reply(s, status, text);

    err_free(&reply_err);
    return why;
}

static err_t reject_player(struct rtmp_session *s, err_t why)
{
    bool full = err_code(why) == ERR_TOO_MANY;

    return rtmp_play_reject(s, RTMP_PLAY_FAILED,
                            full ? "The server is full, try again later." : NULL, why);
}

err_t rtmp_play_run(struct session_player *p, struct rtmp_session *s,
                    const struct session_player_kind *kind, err_t (*play)(struct session_player *))
{
    err_t err;

    rtmp_session_suspend_deadlines(s);
    err = session_player_begin(p, &s->base, kind, NULL);
    rtmp_session_resume_deadlines(s);
    if (err) {
        err = reject_player(s, err);
    } else {
        err = play(p);
        session_player_end(p, err);
    }
    return err ? err_wrap(err, "play %s/%s", s->base.names.app, s->base.names.name) : NULL;
}

void rtmp_play_log_sample(const struct session_player *p, co_usec now)
{
    session_player_log_sample(p, "", now - p->s->began_at);
}

/* ---- a live stream */

struct playing {
    struct session_player player;
    struct rtmp_session *s;
    uint32_t leave_out; /* bits of RTMP_WIRE_LEAVE_OUT */
    bool opus_settled;  /* nothing to log about Opus, or logged already */
};

static struct playing *playing_of(struct session_player *player)
{
    return container_of(player, struct playing, player);
}

static void open_wire(struct playing *p)
{
    const uint32_t param[LIVE_PARAMS] = {
        [RTMP_WIRE_CHUNK_SIZE] = p->s->conn.out_chunk_size,
        [RTMP_WIRE_STREAM_ID] = p->s->stream_id,
        [RTMP_WIRE_LEAVE_OUT] = p->leave_out,
    };

    session_player_open(&p->player, &rtmp_wire, param);
}

/* Handles receiveAudio and receiveVideo: switches the player to a wire without that track, starting
 * at the newest key frame. */
static void receive(struct playing *p, uint32_t bit, bool on)
{
    uint32_t leave_out = on ? p->leave_out & ~bit : p->leave_out | bit;

    if (leave_out == p->leave_out)
        return;
    p->leave_out = leave_out;
    open_wire(p);
}

static err_t on_command(struct session_player *player, const struct rtmp_command *c,
                        struct rtmp_msg *msg)
{
    struct playing *p = playing_of(player);

    (void)msg;
    switch (c->id) {
    case RTMP_CMD_CLOSE_STREAM:
    case RTMP_CMD_DELETE_STREAM:
        p->player.sender.done = true;
        return rtmp_session_answer(p->s, c);
    case RTMP_CMD_PAUSE:
        return rtmp_play_pause(player, p->s, rtmp_command_boolean(c, 1, true));
    case RTMP_CMD_RECEIVE_AUDIO:
        receive(p, RTMP_WIRE_NO_AUDIO, rtmp_command_boolean(c, 1, true));
        return NULL;
    case RTMP_CMD_RECEIVE_VIDEO:
        receive(p, RTMP_WIRE_NO_VIDEO, rtmp_command_boolean(c, 1, true));
        return NULL;
    case RTMP_CMD_SEEK: /* a live stream cannot seek: answer, and keep the position */
        return rtmp_session_reply(p->s, RTMP_SEEK_NOTIFY, NULL);
    default:
        return rtmp_session_answer(p->s, c);
    }
}

static err_t on_readable(struct session_player *player)
{
    return rtmp_play_read(player, playing_of(player)->s, on_command);
}

/* Logs once that Opus is left out, as soon as the stream's audio is known. */
static void on_turn(struct session_player *player)
{
    struct playing *p = playing_of(player);

    if (!p->opus_settled)
        p->opus_settled = session_play_log_no_opus_once(player->s, SESSION_PLAY_NO_OPUS);
}

/* Sends the stream. A player may wait for its publisher without a limit. */
static err_t send_stream(struct session_player *player)
{
    struct playing *p = playing_of(player);
    err_t err = rtmp_play_started(p->s, false);

    if (err)
        return err;
    open_wire(p);
    err = on_readable(&p->player); /* bytes that came together with `play` are no longer in the
                                    * socket */
    if (!err)
        err = session_player_send(&p->player);
    io_tcp_nodelay(p->s->base.io, true);
    return err;
}

err_t rtmp_session_play(struct rtmp_session *s)
{
    static const struct session_player_kind kind = {
        .type = CLIENTS_RTMP_PLAY, .what = "player", .sampled = SAMPLED_PLAY,
        .on_readable = on_readable, .log_sample = rtmp_play_log_sample, .on_turn = on_turn,
    };
    struct playing p = { .s = s,
                         .leave_out = s->opus ? 0 : RTMP_WIRE_NO_OPUS,
                         .opus_settled = s->opus };

    return rtmp_play_run(&p.player, s, &kind, send_stream);
}
