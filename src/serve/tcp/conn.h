/* SPDX-License-Identifier: MIT */
/* conn.h - a connection over TCP from accept to close: its place, the header of a proxy, TLS, the
 * coroutine that serves it, its way to another worker. A protocol has it in its own memory, and a
 * row of functions.
 */
#ifndef SERVE_TCP_CONN_H
#define SERVE_TCP_CONN_H

#include "co/net/io_tcp.h"
#include "serve/protocol.h"
#include "session/address_slot.h"

/* The pipe of a connection that was accepted; what is written goes out at once. On error the
 * descriptor is still the caller's. */
err_t tcp_open(struct io **out, int fd) __attribute__((warn_unused_result));

/* `proxied`: the connection begins with a header of the PROXY protocol, and who is no trusted proxy
 * is refused. Address and port are then those that the header names, whose place the connection
 * takes. *ip is "" when the socket does not know any more. ERR_DENIED, ERR_PROXY, ERR_TOO_MANY,
 * ERR_IO_TIMEOUT, and the pipe's; ip and port are set all the same. Yields if proxied. */
err_t tcp_remote(struct session_env *env, struct io *io, bool proxied,
                     struct address_slot *place,
                     char ip[IO_ADDR_SIZE], int *port) __attribute__((warn_unused_result));

struct tcp_ops;

struct tcp_conn {
    const struct tcp_ops *ops;
    struct session_env *env;   /* of the worker that serves it */
    struct io **io;            /* its pipe, in the protocol's memory; NULL: it was handed over */
    struct io_tls_server *tls; /* a handshake comes first; NULL: none */
    bool proxied;              /* a header of the PROXY protocol before that */
    bool secure;               /* it speaks TLS */
    int move_to;               /* the worker that it goes to next; -1: it stays */
    struct address_slot place;
    char ip[IO_ADDR_SIZE];     /* of the client */
    int port;
};

struct tcp_ops {
    const char *name, *secure;  /* of its coroutine; of one over TLS */
    /* Its memory, with tcp_conn_init() done. Owns the pipe. */
    struct tcp_conn *(*make)(struct session_env *env, struct io *io,
                             const struct protocol_accepted *guest);
    err_t (*run)(struct tcp_conn *c);    /* to its end, or until move_to says where to; yields */
    void (*leave)(struct tcp_conn *c);   /* it goes to that worker; or NULL */
    void (*arrive)(struct tcp_conn *c);  /* it is there: `env` is that worker's */
    err_t (*go_on)(struct tcp_conn *c);  /* as run, there */
    void (*end)(struct tcp_conn *c, err_t err); /* log why, and free it; owns the error */
    void (*free)(struct tcp_conn *c);
};

/* For a protocol's accept(): see struct protocol. */
err_t tcp_accept(const struct tcp_ops *ops, struct session_env *env,
                 const struct protocol_accepted *guest, struct address_slot *place)
    __attribute__((warn_unused_result));
/* It counts among the connections, until tcp_conn_fini(), which closes it. */
void tcp_conn_init(struct tcp_conn *c, const struct tcp_ops *ops, struct session_env *env,
                   struct io **io);
void tcp_conn_fini(struct tcp_conn *c);
/* Its coroutine is at its end, or at the end of it here. */
void tcp_conn_end(struct tcp_conn *c, err_t err);
/* The TLS handshake, if one is to come. Yields. */
err_t tcp_conn_secure(struct tcp_conn *c, co_usec timeout) __attribute__((warn_unused_result));

#endif
