/* SPDX-License-Identifier: MIT */
/* conn.c - connections over TCP, from accept to close. */
#include "serve/tcp/conn.h"

#include "co/net/io_tls.h"
#include "session/move.h"
#include "session/place.h"
#include "session/remote.h"
#include "session/workers.h"

#include <unistd.h>

void tcp_conn_init(struct tcp_conn *c, const struct tcp_ops *ops, struct session_env *env,
                   struct io **io)
{
    *c = (struct tcp_conn){ .ops = ops, .env = env, .io = io, .move_to = -1 };
    workers_connected(env);
}

void tcp_conn_fini(struct tcp_conn *c)
{
    session_place_leave(&c->place);
    workers_disconnected(c->env);
    io_close(*c->io);
    (void)io_tls_server_unref(c->tls);
}

err_t tcp_conn_secure(struct tcp_conn *c, co_usec timeout)
{
    err_t err = c->tls ? io_tls_accept(c->io, c->tls, timeout) : NULL;

    c->secure = c->tls;
    c->tls = io_tls_server_unref(c->tls); /* it belongs to this thread, the connection may go */
    return err;
}

/* ---- at another worker */

static err_t arrive(void *conn, struct session_env *env)
{
    struct tcp_conn *c = conn;

    c->env = env;
    c->move_to = -1;
    c->ops->arrive(c);
    return io_attach(*c->io);
}

static err_t go_on_main(void *conn)
{
    struct tcp_conn *c = conn;

    co_log_as(LOG_STRANGER);
    tcp_conn_end(c, c->ops->go_on(c));
    return NULL;
}

static void drop(void *conn)
{
    struct tcp_conn *c = conn;

    c->ops->free(c);
}

void tcp_conn_end(struct tcp_conn *c, err_t err)
{
    const struct session_mover how = { .name = c->ops->name, .arrive = arrive, .main = go_on_main,
                                       .drop = drop };

    if (err || c->move_to < 0) {
        c->ops->end(c, err);
        return;
    }
    if (c->ops->leave)
        c->ops->leave(c);
    io_detach(*c->io);
    session_move(c->env, (unsigned)c->move_to, &how, c);
}

/* ---- its coroutine */

static err_t conn_main(void *conn)
{
    struct tcp_conn *c = conn;
    err_t err;

    co_new_cid();
    co_log_as(LOG_STRANGER);
    err = session_remote(c->env, *c->io, c->proxied, &c->place, c->ip, &c->port);
    if (!c->ip[0] && c->env->conf->empty_ip_ok) { /* a probe of a load balancer */
        err_free(&err);
        c->ops->free(c);
        return NULL;
    }
    if (!err)
        err = c->ops->run(c);
    tcp_conn_end(c, err);
    return NULL;
}

err_t tcp_accept(const struct tcp_ops *ops, struct session_env *env,
                 const struct protocol_guest *guest, struct peers_place *place)
{
    struct tcp_conn *c;
    struct io *io;
    err_t err = session_remote_open(&io, guest->fd);

    if (err) {
        (void)close(guest->fd);
        return err;
    }
    c = ops->make(env, io, guest);
    c->proxied = guest->proxied;
    c->tls = guest->tls ? io_tls_server_ref(guest->tls) : NULL;
    c->place = *place;
    *place = (struct peers_place){ 0 };
    err = co_go(env->connections, c->tls ? ops->secure : ops->name, conn_main, c);
    if (err)
        ops->free(c);
    return err;
}
