/* SPDX-License-Identifier: MIT */
/* play.c - send a live stream to a player. */
#include "base/log.h"
#include "live/sender.h"
#include "serve/rtmp/session.h"
#include "session/bandwidth.h"
#include "session/term.h"
#include "wire/rtmp.h"

#include <stdlib.h>

struct playing {
    struct rtmp_session *s;
    struct live_source *src;
    struct live_sender sender;
    struct serve_term term;
    uint32_t leave_out; /* bits of RTMP_WIRE_LEAVE_OUT */
    uint64_t dropped;   /* as the log was told last */
};

static void apply_settings(struct playing *p)
{
    const struct conf_vhost *v = p->s->vhost;

    session_pace(p->s->io, &p->s->paced, v->bandwidth.play_kbps);
    p->sender.look_every = p->s->conf->sampled_print / 2;
    p->sender.set = (struct live_sender_settings){
        .mw_latency = v->play.mw_latency == CONF_AUTO ? LIVE_MW_AUTO : v->play.mw_latency,
        .mw_msgs = (unsigned)v->play.mw_msgs,
        .send_interval = v->play.send_min_interval,
    };
}

static void open_consumer(struct playing *p)
{
    const uint32_t param[LIVE_PARAMS] = {
        [RTMP_WIRE_CHUNK_SIZE] = p->s->conn.out_chunk_size,
        [RTMP_WIRE_STREAM_ID] = p->s->stream_id,
        [RTMP_WIRE_LEAVE_OUT] = p->leave_out,
    };

    live_consumer_close(&p->sender.consumer);
    live_consumer_open(&p->sender.consumer, p->src, &rtmp_wire, param);
}

static err_t log_paused(struct playing *p, bool paused)
{
    struct rtmp_session *s = p->s;
    struct wr out;

    wr_init(&out, RTMP_REPLY_MAX);
    rtmp_session_put_status(s, &out, paused ? RTMP_PAUSE_NOTIFY : RTMP_UNPAUSE_NOTIFY, NULL);
    rtmp_conn_put_event(&s->conn, &out, paused ? RTMP_STREAM_EOF : RTMP_STREAM_BEGIN,
                        s->stream_id, 0);
    p->sender.paused = paused;
    log_trace("player %s", paused ? "pauses" : "goes on");
    return rtmp_conn_send_all(&s->conn, &out);
}

/* With less to send the player gets a wire of its kind, from the newest key frame on. */
static void receive(struct playing *p, uint32_t bit, bool on)
{
    uint32_t leave_out = on ? p->leave_out & ~bit : p->leave_out | bit;

    if (leave_out == p->leave_out)
        return;
    p->leave_out = leave_out;
    open_consumer(p);
}

static err_t on_command(struct playing *p, const struct rtmp_command *c)
{
    switch (c->id) {
    case RTMP_CMD_CLOSE_STREAM:
    case RTMP_CMD_DELETE_STREAM:
        p->sender.done = true;
        return rtmp_session_answer(p->s, c);
    case RTMP_CMD_PAUSE:
        return log_paused(p, rtmp_command_boolean(c, 1, true));
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
static err_t on_readable(void *arg)
{
    struct playing *p = arg;
    struct rtmp_conn *conn = &p->s->conn;
    struct rtmp_msg msg;
    err_t err = rtmp_conn_poll(conn);

    while (!err && !p->sender.done && rtmp_conn_pop(conn, &msg)) {
        err = on_message(p, &msg);
        rtmp_conn_release(conn, &msg);
        co_yield_if_due();
    }
    if (!err && rtmp_conn_owes(conn))
        err = rtmp_conn_flush(conn);
    return err;
}

static void sample(struct playing *p, co_usec now)
{
    struct rtmp_session *s = p->s;

    rtmp_session_count(s, now);
    if (!sampled_due(&s->env->sampled, SAMPLED_PLAY, now, s->conf->sampled_print))
        return;
    log_always(LOG_TRACE,
               "%s time=%lld, msgs=%llu, okbps=" KBPS_FMT ", ikbps=" KBPS_FMT ", mw=%lld/%u",
               sampled_name(SAMPLED_PLAY), (long long)(now - s->began_at),
               (unsigned long long)live_consumer_pending(&p->sender.consumer),
               KBPS_ARGS(&s->out_kbps), KBPS_ARGS(&s->in_kbps),
               (long long)p->sender.merge / 1000, p->sender.set.mw_msgs);
}

static err_t on_turn(void *arg)
{
    struct playing *p = arg;
    bool changed;
    err_t err = rtmp_session_apply(p->s, &changed);

    if (err)
        return err;
    if (changed)
        apply_settings(p);
    /* The first turn goes out at once behind the answers; from then on it is the vhost's choice. */
    if (changed || p->sender.turns == 1)
        io_tcp_nodelay(p->s->io, p->s->vhost->tcp_nodelay);
    session_log_dropped(p->sender.consumer.dropped, &p->dropped);
    sample(p, co_now());
    return NULL;
}

static err_t log_started(struct rtmp_session *s)
{
    struct wr out, body;

    wr_init(&out, RTMP_REPLY_MAX);
    wr_init(&body, RTMP_REPLY_MAX);
    rtmp_conn_put_event(&s->conn, &out, RTMP_STREAM_BEGIN, s->stream_id, 0);
    rtmp_session_put_status(s, &out, RTMP_PLAY_RESET, NULL);
    rtmp_session_put_status(s, &out, RTMP_PLAY_START, NULL);
    rtmp_reply_sample_access(&body, true, true);
    rtmp_conn_put(&s->conn, &out, RTMP_DATA, s->stream_id, &body);
    wr_free(&body);
    return rtmp_conn_send_all(&s->conn, &out);
}

static void refuse(struct rtmp_session *s, err_t why)
{
    bool full = err_code(why) == ERR_TOO_MANY;
    err_t untold = rtmp_session_reply(s, RTMP_PLAY_FAILED,
                                     full ? "There is no room, try again later." : NULL);

    err_free(&untold);
}

static err_t play(struct playing *p)
{
    struct rtmp_session *s = p->s;
    err_t err;

    s->env->players++;
    rtmp_session_enter(s);
    err = log_started(s);
    if (!err) {
        apply_settings(p);
        open_consumer(p);
        co_stack_trim();
        err = on_readable(p); /* what came together with `play` is no longer in the socket */
        if (!err)
            err = live_sender_run(&p->sender);
        live_consumer_close(&p->sender.consumer);
        io_tcp_nodelay(s->io, true);
    }
    s->env->players--;
    return err;
}

/* Ask whether it may, then play; in the server's lists all the while. */
static err_t play_if_allowed(struct playing *p)
{
    struct rtmp_session *s = p->s;
    struct live_settings set = session_live_settings(s->conf, s->vhost);
    struct session_stream names = rtmp_session_names(s);
    char *name = rtmp_session_stream_name(s);
    int64_t ends;
    err_t err;

    p->src = live_registry_get(s->env->streams, name, &set);
    free(name);
    rtmp_session_wait(s, CLIENTS_RTMP_PLAY, p->src);
    err = rtmp_session_ask_play(s, &names, &ends);
    if (err) {
        refuse(s, err);
    } else {
        session_term_begin(&p->term, ends);
        err = play(p);
        session_term_end(&p->term, &err);
        rtmp_session_notify(s, HOOKS_STOP);
    }
    rtmp_session_leave(s, err);
    p->src = live_source_unref(p->src);
    return err;
}

err_t rtmp_session_play(struct rtmp_session *s)
{
    struct playing p = { .s = s };
    err_t err;

    rtmp_session_deadline(s, 0, NULL); /* a player may wait for its publisher as long as it likes */
    p.sender = (struct live_sender){ .io = s->io, .arg = &p, .on_readable = on_readable,
                                     .on_turn = on_turn, .epoch = &s->env->generation };
    err = play_if_allowed(&p);
    return err ? err_wrap(err, "play %s/%s", s->url.app, s->url.stream) : NULL;
}
