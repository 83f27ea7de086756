/* SPDX-License-Identifier: MIT */
/* move.c - a client goes on at another worker: between saying what it wants and getting it. */
#include "serve/rtmp/session.h"
#include "session/move.h"

static err_t rest(struct rtmp_session *s)
{
    err_t err = NULL;

    rtmp_session_hold(s);
    if (rtmp_conn_owes(&s->conn))
        err = rtmp_conn_flush(&s->conn);
    if (!err)
        err = hooks_line_rest(&s->base.line, s->base.vhost);
    return err ? err : co_check();
}

err_t rtmp_session_settle(struct rtmp_session *s, enum rtmp_want want)
{
    unsigned to;
    err_t err;

    if (s->base.on_demand) /* each worker has the files */
        return NULL;
    rtmp_file_forget(s);
    to = session_goes_to(&s->base, want == RTMP_WANT_PUBLISH);
    if (to == s->base.env->worker)
        return NULL;
    err = rest(s);
    s->wanted = want;
    s->move_to = err ? -1 : (int)to;
    return err;
}

static err_t arrive(void *session, struct session_env *env)
{
    struct rtmp_session *s = session;

    s->base.env = env;
    s->base.generation = env->generation - 1; /* it is served by this env's snapshot next */
    s->setup.pool = env->messages;
    s->move_to = -1;
    return io_attach(s->base.io);
}

static void drop(void *session)
{
    rtmp_session_free(session);
}

void rtmp_session_send_away(struct rtmp_session *s)
{
    static const struct session_mover how = {
        .name = "rtmp", .arrive = arrive, .main = rtmp_session_go_on_main, .drop = drop,
    };

    rtmp_conn_leave(&s->conn);
    io_detach(s->base.io);
    session_move(s->base.env, (unsigned)s->move_to, &how, s);
}

err_t rtmp_session_arrived(struct rtmp_session *s)
{
    bool changed;

    co_log_as(LOG_STRANGER);
    s->base.co = co_self();
    rtmp_conn_arrive(&s->conn);
    return session_apply(&s->base, &changed);
}
