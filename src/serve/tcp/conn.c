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

/* ---- address of the client: from the socket, or from a trusted proxy */

err_t tcp_open(struct io **out, int fd)
{
    int on = 1;
    err_t err = io_tcp_open(out, fd);

    if (err)
        return err;
    /* A peer whose machine died sends nothing, so the kernel probes it from time to time. */
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    io_tcp_nodelay(*out, true);
    return NULL;
}

static err_t read_proxy_header(struct session_env *env, struct io *io, struct address_slot *slot,
                               char ip[IO_ADDR_SIZE], int *port)
{
    struct proxy_peer client;
    err_t err;

    if (!conf_networks_have_text(&env->conf->trusted_proxies, ip))
        return err_new(ERR_DENIED, "%s is not in trusted_proxies, and this endpoint has "
                       "proxy_protocol", ip);
    err = proxy_read(io, &client, env->conf->limits.handshake_timeout);
    if (err)
        return err_wrap(err, "PROXY header from %s", ip);
    if (!client.known)
        return NULL;
    log_debug("proxy %s:%d forwards ip=%s:%d", ip, *port, client.ip, client.port);
    (void)snprintf(ip, IO_ADDR_SIZE, "%s", client.ip);
    *port = client.port;
    return address_slot_take_ip(env, slot, ip);
}

err_t tcp_remote(struct session_env *env, struct io *io, bool proxied,
                 struct address_slot *slot,
                 char ip[IO_ADDR_SIZE], int *port)
{
    io_tcp_peer(io, ip, port);
    return proxied && ip[0] ? read_proxy_header(env, io, slot, ip, port) : NULL;
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
    address_slot_leave(&c->slot);
    workers_disconnected(c->env);
    io_close(*c->io);
    (void)io_tls_server_unref(c->tls);
}

err_t tcp_conn_secure(struct tcp_conn *c, co_usec timeout)
{
    err_t err = c->tls ? io_tls_accept(c->io, c->tls, timeout) : NULL;

    c->secure = c->tls;
    c->tls = io_tls_server_unref(c->tls); /* the TLS context belongs to this thread, and the
                                           * connection may move to another */
    return err;
}

/* ---- move to another worker */

static err_t arrive(void *conn, struct session_env *env)
{
    struct tcp_conn *c = conn;

    c->env = env;
    c->move_to = -1;
    c->ops->arrive(c);
    return io_attach(*c->io);
}

static err_t resume_main(void *conn)
{
    struct tcp_conn *c = conn;

    co_log_as(LOG_UNTRUSTED);
    tcp_conn_end(c, c->ops->resume(c));
    return NULL;
}

static void drop(void *conn)
{
    struct tcp_conn *c = conn;

    c->ops->free(c);
}

void tcp_conn_end(struct tcp_conn *c, err_t err)
{
    const struct session_mover mover = {
        .name = c->ops->name, .arrive = arrive, .main = resume_main, .drop = drop
    };

    if (err || c->move_to < 0) {
        c->ops->end(c, err);
        return;
    }
    if (c->ops->detach)
        c->ops->detach(c);
    io_detach(*c->io);
    session_move(c->env, (unsigned)c->move_to, &mover, c);
}

/* ---- coroutine of a connection */

static err_t conn_main(void *conn)
{
    struct tcp_conn *c = conn;
    err_t err;

    co_new_cid();
    co_log_as(LOG_UNTRUSTED);
    err = tcp_remote(c->env, *c->io, c->proxied, &c->slot, c->ip, &c->port);
    if (!c->ip[0] && c->env->conf->empty_ip_ok) { /* a health check of a load balancer */
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
                 const struct protocol_accepted *accepted, struct address_slot *slot)
{
    struct tcp_conn *c;
    struct io *io;
    err_t err = tcp_open(&io, accepted->fd);

    if (err) {
        (void)close(accepted->fd);
        return err;
    }
    c = ops->create(env, io, accepted);
    c->proxied = accepted->proxied;
    c->tls = accepted->tls ? io_tls_server_ref(accepted->tls) : NULL;
    c->slot = *slot;
    *slot = (struct address_slot){ 0 };
    err = co_go(env->connections, c->tls ? ops->secure : ops->name, conn_main, c);
    if (err)
        ops->free(c);
    return err;
}
