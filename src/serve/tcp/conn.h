/* SPDX-License-Identifier: MIT */
/* conn.h - a TCP connection from accept to close: per-address slot, PROXY header, TLS, coroutine
 * and the move to another worker.
 *
 * A protocol embeds struct tcp_conn in its own session and provides a struct tcp_ops.
 */
#ifndef SERVE_TCP_CONN_H
#define SERVE_TCP_CONN_H

#include "co/net/io_tcp.h"
#include "serve/protocol.h"
#include "session/address_slot.h"

/* Creates the io of an accepted connection; writes are sent at once (TCP_NODELAY). On error the
 * caller still owns the descriptor. */
err_t tcp_open(struct io **out, int fd) __attribute__((warn_unused_result));

/* Finds the address and port of the client. With `proxied` the connection starts with a PROXY
 * protocol header: peers that are not trusted proxies are rejected, ip and port are those in the
 * header, and the slot is exchanged for one of that address. *ip is "" if the socket no longer
 * knows its peer. ERR_DENIED, ERR_PROXY, ERR_TOO_MANY, ERR_IO_TIMEOUT and the errors of the io; ip
 * and port are set on errors too. Yields if proxied. */
err_t tcp_remote(struct session_env *env, struct io *io, bool proxied,
                 struct address_slot *slot,
                 char ip[IO_ADDR_SIZE], int *port) __attribute__((warn_unused_result));

struct tcp_ops;

struct tcp_conn {
    const struct tcp_ops *ops;
    struct session_env *env;   /* environment of the worker that serves it */
    struct io **io;            /* its io, stored in the session of the protocol; NULL: handed
                                * over */
    struct io_tls_server *tls; /* starts with a TLS handshake; NULL: no TLS */
    bool proxied;              /* a PROXY protocol header comes before that */
    bool secure;               /* uses TLS */
    int move_to;               /* the worker to move to; -1: stays here */
    struct address_slot slot;
    char ip[IO_ADDR_SIZE];     /* address of the client */
    int port;
};

struct tcp_ops {
    const char *name, *secure;           /* names of its coroutine: plain, over TLS */
    /* Allocates the session and calls tcp_conn_init(). Owns the io. */
    struct tcp_conn *(*create)(struct session_env *env, struct io *io,
                               const struct protocol_accepted *accepted);
    err_t (*run)(struct tcp_conn *c);    /* serves it until it ends or sets move_to; yields */
    void (*detach)(struct tcp_conn *c);  /* prepares the move to another worker; or NULL */
    void (*arrive)(struct tcp_conn *c);  /* called on the other worker; `env` is that worker's */
    err_t (*resume)(struct tcp_conn *c); /* like run, on the other worker */
    void (*end)(struct tcp_conn *c, err_t err); /* logs the reason and frees the session; owns
                                                 * the error */
    void (*free)(struct tcp_conn *c);
};

/* Implements accept() of a protocol, see struct protocol. */
err_t tcp_accept(const struct tcp_ops *ops, struct session_env *env,
                 const struct protocol_accepted *accepted, struct address_slot *slot)
    __attribute__((warn_unused_result));
/* Counts the connection until tcp_conn_fini(), which closes it. */
void tcp_conn_init(struct tcp_conn *c, const struct tcp_ops *ops, struct session_env *env,
                   struct io **io);
void tcp_conn_fini(struct tcp_conn *c);
/* Called when its coroutine ends: ends the session, or moves it to c->move_to. */
void tcp_conn_end(struct tcp_conn *c, err_t err);
/* Performs the TLS handshake if the connection starts with one. Yields. */
err_t tcp_conn_secure(struct tcp_conn *c, co_usec timeout) __attribute__((warn_unused_result));

#endif
