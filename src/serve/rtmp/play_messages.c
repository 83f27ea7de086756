/* SPDX-License-Identifier: MIT */
/* play_messages.c - messages from and to players, of live streams and of files. */
#include "base/log.h"
#include "serve/rtmp/play.h"

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

err_t rtmp_play_listen(struct session_player *p, struct rtmp_session *s,
                       rtmp_play_command *on_command)
{
    struct rtmp_conn *conn = &s->conn;
    struct rtmp_msg msg;
    err_t err = rtmp_conn_poll(conn);

    while (!err && !p->sender.done && rtmp_conn_pop(conn, &msg)) {
        err = rtmp_play_message(p, s, &msg, on_command);
        co_yield_if_due();
    }
    if (!err && rtmp_conn_owes(conn))
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
    log_trace("player %s", paused ? "pauses" : "goes on");
    return rtmp_batch_send(&b);
}

err_t rtmp_play_refuse(struct rtmp_session *s, enum rtmp_status status, const char *text, err_t why)
{
    err_t untold = rtmp_session_reply(s, status, text);

    err_free(&untold);
    return why;
}

static err_t not_let_in(struct rtmp_session *s, err_t why)
{
    bool full = err_code(why) == ERR_TOO_MANY;

    return rtmp_play_refuse(s, RTMP_PLAY_FAILED,
                            full ? "There is no room, try again later." : NULL, why);
}

err_t rtmp_play_run(struct session_player *p, struct rtmp_session *s,
                    const struct session_player_kind *kind, err_t (*play)(struct session_player *))
{
    err_t err;

    rtmp_session_hold(s);
    err = session_player_begin(p, &s->base, kind, NULL);
    rtmp_session_go_on(s);
    if (err) {
        err = not_let_in(s, err);
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
