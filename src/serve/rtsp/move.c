/* SPDX-License-Identifier: MIT */
/* move.c - a client goes on at another worker, with the request that names its stream. */
#include "serve/rtsp/session.h"
#include "session/move.h"

err_t rtsp_conn_settle(struct rtsp_conn *c, bool publishes)
{
    unsigned to;
    err_t err;

    if (c->settled) { /* it came for that */
        c->settled = false;
        return NULL;
    }
    to = session_goes_to(&c->base, publishes);
    if (to == c->base.env->worker)
        return NULL;
    co_deadline_cancel(&c->deadline);
    err = hooks_line_rest(&c->base.line, c->base.vhost);
    if (!err)
        err = co_check();
    if (!err)
        c->tcp.move_to = (int)to;
    return err;
}

void rtsp_conn_arrive(struct rtsp_conn *c)
{
    c->base.env = c->tcp.env;
    c->base.generation = c->base.env->generation - 1; /* its snapshot is next */
    c->settled = true;
}
