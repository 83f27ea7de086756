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

err_t rtmp_session_settle(struct rtmp_session *s, enum rtmp_role want)
{
    unsigned to;
    err_t err;

    if (s->base.on_demand) /* each worker has the files */
        return NULL;
    rtmp_file_forget(s);
    to = session_goes_to(&s->base, want == RTMP_ROLE_PUBLISH);
    if (to == s->base.env->worker)
        return NULL;
    err = rest(s);
    s->wanted = want;
    s->tcp.move_to = err ? -1 : (int)to;
    return err;
}

void rtmp_session_leave(struct rtmp_session *s)
{
    rtmp_conn_leave(&s->conn);
}

void rtmp_session_arrive(struct rtmp_session *s)
{
    s->base.env = s->tcp.env;
    s->base.generation = s->base.env->generation - 1; /* its snapshot is next */
    s->setup.pool = s->base.env->messages;
}

err_t rtmp_session_arrived(struct rtmp_session *s)
{
    bool changed;

    s->base.co = co_self();
    rtmp_conn_arrive(&s->conn);
    return session_apply(&s->base, &changed);
}
