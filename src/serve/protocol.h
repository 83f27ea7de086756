/* SPDX-License-Identifier: MIT */
/* protocol.h - description of a protocol: how it accepts connections and datagrams, its HTTP routes
 * and its counters.
 *
 * The directives and endpoints of a protocol are in conf_protocol() with the same id. app/ walks
 * one list of these rows and names no protocol.
 */
#ifndef SERVE_PROTOCOL_H
#define SERVE_PROTOCOL_H

#include "conf/protocol.h"
#include "serve/http/http.h"

struct counter_table;
struct datagram_protocol;
struct io_tls_server;

/* An accepted connection. */
struct protocol_accepted {
    int fd;
    bool proxied;              /* starts with a PROXY protocol header */
    bool reserved;             /* uses one of the connections of limits.api_reserve */
    struct io_tls_server *tls; /* starts with a TLS handshake; NULL: no TLS */
    unsigned served[PROTOCOLS]; /* for each protocol, the endpoints (bits) that share this port */
};

struct protocol {
    enum protocol_id id;
    /* Takes ownership of the descriptor and serves it in a coroutine of env->connections. Moves the
     * per-address slot into the session, or leaves it with the caller. NULL: the protocol has no
     * connections. Does not yield. */
    err_t (*accept)(struct session_env *env, const struct protocol_accepted *accepted,
                    struct address_slot *slot);
    /* Adds its HTTP routes. `guard` checks the token of the API; routes that start a client call it
     * first. NULL: no routes. */
    void (*mount)(struct http_mux *mux, http_handler *guard, void *arg);
    http_handler *tunnel;                      /* called before the HTTP routes; takes requests
                                                * that tunnel this protocol; NULL: none */
    const struct datagram_protocol *datagrams; /* NULL: no datagrams */
    const struct counter_table *counters;      /* for metrics and the log; NULL: none */
};

#define XX(ID, id) extern const struct protocol protocol_##id;
PROTOCOL_LIST(XX)
#undef XX

#endif
