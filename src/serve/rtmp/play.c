/* SPDX-License-Identifier: MIT */
/* play.c - send a live stream to a player. */
#include "serve/rtmp/play.h"

#include "base/container_of.h"
#include "wire/rtmp.h"

struct playing {
    struct session_player player;
    struct rtmp_session *s;
    uint32_t leave_out; /* bits of RTMP_WIRE_LEAVE_OUT */
    bool told;          /* that it is not sent Opus, or there is none */
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

/* With less to send the player gets a wire of its kind, from the newest key frame on. */
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
    case RTMP_CMD_SEEK: /* there is nothing to go back to: the player is where it was */
        return rtmp_session_reply(p->s, RTMP_SEEK_NOTIFY, NULL);
    default:
        return rtmp_session_answer(p->s, c);
    }
}

static err_t on_readable(struct session_player *player)
{
    return rtmp_play_listen(player, playing_of(player)->s, on_command);
}

/* Once, when the stream's audio is known. */
static void on_turn(struct session_player *player)
{
    struct playing *p = playing_of(player);

    if (!p->told)
        p->told = session_play_tell_no_opus(player->s, SESSION_PLAY_NO_OPUS);
}

/* It may wait for its publisher as long as it likes. */
static err_t send_stream(struct session_player *player)
{
    struct playing *p = playing_of(player);
    err_t err = rtmp_play_started(p->s, false);

    if (err)
        return err;
    open_wire(p);
    err = on_readable(&p->player); /* what came together with `play` is no longer in the socket */
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
    struct playing p = { .s = s, .leave_out = s->opus ? 0 : RTMP_WIRE_NO_OPUS, .told = s->opus };

    return rtmp_play_run(&p.player, s, &kind, send_stream);
}
