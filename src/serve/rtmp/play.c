/* SPDX-License-Identifier: MIT */
/* play.c - send a live stream to a player. */
#include "base/container_of.h"
#include "base/log.h"
#include "serve/rtmp/session.h"
#include "session/player.h"
#include "wire/rtmp.h"

struct playing {
    struct session_player player;
    struct rtmp_session *s;
    uint32_t leave_out; /* bits of RTMP_WIRE_LEAVE_OUT */
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

static err_t set_paused(struct playing *p, bool paused)
{
    struct rtmp_batch b;

    rtmp_batch_begin(&b, p->s);
    rtmp_batch_put_status(&b, paused ? RTMP_PAUSE_NOTIFY : RTMP_UNPAUSE_NOTIFY, NULL);
    rtmp_conn_put_event(&p->s->conn, &b.out, paused ? RTMP_STREAM_EOF : RTMP_STREAM_BEGIN,
                        p->s->stream_id, 0);
    live_sender_pause(&p->player.sender, paused);
    log_trace("player %s", paused ? "pauses" : "goes on");
    return rtmp_batch_send(&b);
}

/* With less to send the player gets a wire of its kind, from the newest key frame on. */
static void receive(struct playing *p, uint32_t bit, bool on)
{
    uint32_t leave_out = on ? p->leave_out & ~bit : p->leave_out | bit;

    if (leave_out == p->leave_out)
        return;
    p->leave_out = leave_out;
    open_wire(p);
}

static err_t on_command(struct playing *p, const struct rtmp_command *c)
{
    switch (c->id) {
    case RTMP_CMD_CLOSE_STREAM:
    case RTMP_CMD_DELETE_STREAM:
        p->player.sender.done = true;
        return rtmp_session_answer(p->s, c);
    case RTMP_CMD_PAUSE:
        return set_paused(p, rtmp_command_boolean(c, 1, true));
    case RTMP_CMD_RECEIVE_AUDIO:
        receive(p, RTMP_WIRE_NO_AUDIO, rtmp_command_boolean(c, 1, true));
        return NULL;
    case RTMP_CMD_RECEIVE_VIDEO:
        receive(p, RTMP_WIRE_NO_VIDEO, rtmp_command_boolean(c, 1, true));
        return NULL;
    case RTMP_CMD_SEEK: /* there is nothing to go back to: the player is where it was */
        return rtmp_session_reply(p->s, RTMP_SEEK_NOTIFY, NULL);
    default:
        return rtmp_session_answer(p->s, c);
    }
}

static err_t on_message(struct playing *p, const struct rtmp_msg *msg)
{
    struct rtmp_command c = { 0 };
    err_t err;

    if (msg->type != RTMP_COMMAND && msg->type != RTMP_COMMAND_AMF3)
        return NULL;
    err = rtmp_command_parse(&c, msg);
    if (!err)
        err = on_command(p, &c);
    rtmp_command_free(&c);
    return err;
}

/* The player said something. Its messages are complete or not yet; nobody waits for the rest. */
static err_t on_readable(struct session_player *player)
{
    struct playing *p = playing_of(player);
    struct rtmp_conn *conn = &p->s->conn;
    struct rtmp_msg msg;
    err_t err = rtmp_conn_poll(conn);

    while (!err && !p->player.sender.done && rtmp_conn_pop(conn, &msg)) {
        err = on_message(p, &msg);
        rtmp_conn_release(conn, &msg);
        co_yield_if_due();
    }
    if (!err && rtmp_conn_owes(conn))
        err = rtmp_conn_flush(conn);
    return err;
}

static void log_sample(const struct session_player *p, co_usec now)
{
    const struct session *s = p->s;

    log_always(LOG_TRACE,
               "%s time=%lld, msgs=%llu, okbps=" KBPS_FMT ", ikbps=" KBPS_FMT ", mw=%lld/%u",
               sampled_name(SAMPLED_PLAY), (long long)(now - s->began_at),
               (unsigned long long)live_sender_pending(&p->sender),
               KBPS_ARGS(&s->out_kbps), KBPS_ARGS(&s->in_kbps),
               us_to_ms(p->sender.merge), p->sender.set.mw_msgs);
}

static err_t reply_started(struct rtmp_session *s)
{
    struct rtmp_batch b;

    rtmp_batch_begin(&b, s);
    rtmp_conn_put_event(&s->conn, &b.out, RTMP_STREAM_BEGIN, s->stream_id, 0);
    rtmp_batch_put_status(&b, RTMP_PLAY_RESET, NULL);
    rtmp_batch_put_status(&b, RTMP_PLAY_START, NULL);
    rtmp_reply_sample_access(&b.body, true, true);
    rtmp_batch_put(&b, RTMP_DATA, s->stream_id);
    return rtmp_batch_send(&b);
}

static err_t refuse(struct rtmp_session *s, err_t why)
{
    bool full = err_code(why) == ERR_TOO_MANY;
    err_t untold = rtmp_session_reply(s, RTMP_PLAY_FAILED,
                                      full ? "There is no room, try again later." : NULL);

    err_free(&untold);
    return why;
}

static err_t send_stream(struct playing *p)
{
    err_t err = reply_started(p->s);

    if (err)
        return err;
    open_wire(p);
    err = on_readable(&p->player); /* what came together with `play` is no longer in the socket */
    if (!err)
        err = session_player_send(&p->player);
    io_tcp_nodelay(p->s->base.io, true);
    return err;
}

/* A player may wait for its publisher as long as it likes. */
err_t rtmp_session_play(struct rtmp_session *s)
{
    static const struct session_player_kind kind = {
        .type = CLIENTS_RTMP_PLAY, .what = "player", .sampled = SAMPLED_PLAY,
        .on_readable = on_readable, .log_sample = log_sample,
    };
    struct playing p = { .s = s };
    err_t err;

    rtmp_session_hold(s);
    err = session_player_begin(&p.player, &s->base, &kind, NULL);
    rtmp_session_go_on(s);
    if (err) {
        err = refuse(s, err);
    } else {
        err = send_stream(&p);
        session_player_end(&p.player, err);
    }
    return err ? err_wrap(err, "play %s/%s", s->url.app, s->url.stream) : NULL;
}
