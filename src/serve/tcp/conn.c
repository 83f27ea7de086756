/* SPDX-License-Identifier: MIT */
/* conn.c - connections over TCP, from accept to close. */
#include "serve/tcp/conn.h"

#include "base/log.h"
#include "co/net/io_tls.h"
#include "proto/proxy/proxy.h"
#include "session/move.h"
#include "session/address_slot.h"
#include "session/workers.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- who is at the other end: the socket says, or a proxy that we trust */

err_t tcp_open(struct io **out, int fd)
{
    int on = 1;
    err_t err = io_tcp_open(out, fd);

    if (err)
        return err;
    /* A peer whose machine died says nothing: the kernel asks it now and then. */
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    io_tcp_nodelay(*out, true);
    return NULL;
}

static err_t ask_proxy(struct session_env *env, struct io *io, struct address_slot *place,
                       char ip[IO_ADDR_SIZE], int *port)
{
    struct proxy_peer behind;
    err_t err;

    if (!conf_networks_have_text(&env->conf->trusted_proxies, ip))
        return err_new(ERR_DENIED, "%s is not in trusted_proxies, and this endpoint has "
                       "proxy_protocol", ip);
    err = proxy_read(io, &behind, env->conf->limits.handshake_timeout);
    if (err)
        return err_wrap(err, "PROXY header of %s", ip);
    if (!behind.known)
        return NULL;
    log_debug("proxy %s:%d tells of ip=%s:%d", ip, *port, behind.ip, behind.port);
    (void)snprintf(ip, IO_ADDR_SIZE, "%s", behind.ip);
    *port = behind.port;
    return address_slot_take_ip(env, place, ip);
}

err_t tcp_remote(struct session_env *env, struct io *io, bool proxied,
                     struct address_slot *place,
                     char ip[IO_ADDR_SIZE], int *port)
{
    io_tcp_peer(io, ip, port);
    return proxied && ip[0] ? ask_proxy(env, io, place, ip, port) : NULL;
}

/* ---- a connection */

void tcp_conn_init(struct tcp_conn *c, const struct tcp_ops *ops, struct session_env *env,
                   struct io **io)
{
    *c = (struct tcp_conn){ .ops = ops, .env = env, .io = io, .move_to = -1 };
    workers_connected(env);
}

void tcp_conn_fini(struct tcp_conn *c)
{
    address_slot_leave(&c->place);
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

    co_log_as(LOG_UNTRUSTED);
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
    co_log_as(LOG_UNTRUSTED);
    err = tcp_remote(c->env, *c->io, c->proxied, &c->place, c->ip, &c->port);
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
                 const struct protocol_accepted *guest, struct address_slot *place)
{
    struct tcp_conn *c;
    struct io *io;
    err_t err = tcp_open(&io, guest->fd);

    if (err) {
        (void)close(guest->fd);
        return err;
    }
    c = ops->make(env, io, guest);
    c->proxied = guest->proxied;
    c->tls = guest->tls ? io_tls_server_ref(guest->tls) : NULL;
    c->place = *place;
    *place = (struct address_slot){ 0 };
    err = co_go(env->connections, c->tls ? ops->secure : ops->name, conn_main, c);
    if (err)
        ops->free(c);
    return err;
}
