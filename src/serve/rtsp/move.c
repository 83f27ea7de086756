/* SPDX-License-Identifier: MIT */
/* move.c - a client goes on at another worker, with the request that names its stream. */
#include "serve/rtsp/conn.h"
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
        c->move_to = (int)to;
    return err;
}

static err_t arrive(void *conn, struct session_env *env)
{
    struct rtsp_conn *c = conn;

    c->base.env = env;
    c->base.generation = env->generation - 1; /* it is served by this env's snapshot next */
    c->move_to = -1;
    c->settled = true;
    return io_attach(c->base.io);
}

static void drop(void *conn)
{
    rtsp_conn_free(conn);
}

void rtsp_conn_send_away(struct rtsp_conn *c)
{
    static const struct session_mover how = {
        .name = "rtsp", .arrive = arrive, .main = rtsp_conn_go_on_main, .drop = drop,
    };

    io_detach(c->base.io);
    session_move(c->base.env, (unsigned)c->move_to, &how, c);
}
