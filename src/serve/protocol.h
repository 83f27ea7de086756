/* SPDX-License-Identifier: MIT */
/* protocol.h - a protocol as a row: how it takes connections and datagrams, and its services of a
 * worker. Its directives and endpoints are those of conf_protocol() of the same id.
 *
 * app/ has the rows in one list and walks it; nothing there names a protocol.
 */
#ifndef SERVE_PROTOCOL_H
#define SERVE_PROTOCOL_H

#include "conf/protocol.h"
#include "serve/http/http.h"

struct counter_table;
struct datagram_protocol;
struct io_tls_server;

/* A connection that came. */
struct protocol_accepted {
    int fd;
    bool proxied;              /* a header of the PROXY protocol comes first */
    bool reserved;             /* it has one of the connections of limits.api_reserve */
    struct io_tls_server *tls; /* a handshake comes before the protocol; NULL: none */
    unsigned served[PROTOCOLS]; /* the endpoints of each that share its port: bits */
};

struct protocol {
    enum protocol_id id;
    /* Take the descriptor over and serve it in a coroutine of env->connections. `place` goes over
     * to the conversation, or stays the caller's. NULL: it has no connections. Does not yield. */
    err_t (*accept)(struct session_env *env, const struct protocol_accepted *guest,
                    struct address_slot *place);
    /* What it answers over HTTP; `ask`, which knows the token of the API, goes in front of what
     * begins a client. NULL: nothing */
    void (*mount)(struct http_mux *mux, http_handler *ask, void *arg);
    http_handler *tunnel; /* takes, before all others, what is no request of HTTP; or NULL */
    const struct datagram_protocol *datagrams; /* NULL: it has none */
    const struct counter_table *counters;      /* for metrics and the log; NULL: none */
};

#define XX(ID, id) extern const struct protocol protocol_##id;
PROTOCOL_LIST(XX)
#undef XX

#endif
