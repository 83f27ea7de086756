/* SPDX-License-Identifier: MIT */
/* http.h - serves HTTP clients; the interface of request handlers.
 *
 * One coroutine per connection reads requests one after the other, and the mux (mux.h) finds the
 * handler of each. A handler answers with x->resp, or declines, and the mux tries the next one.
 * Handlers yield whenever they send: after that, pointers into shared tables are stale.
 */
#ifndef SERVE_HTTP_HTTP_H
#define SERVE_HTTP_HTTP_H

#include "proto/http/request.h"
#include "proto/http/response.h"
#include "session/env.h"
#include "session/address_limits.h"

struct http_mux;
struct protocol_accepted;

/* The services of an endpoint; an endpoint configured for both has both bits. */
enum http_ports {
    HTTP_PORT_SERVER = 1, HTTP_PORT_API = 2, HTTP_PORT_ALL = 3, HTTP_PORT_EXPORTER = 4,
};

struct http_exchange;

/* Answers the request, or sets x->declined before anything was sent. An error ends the connection;
 * a mistake of the client is a response (http_response_status) and no error. */
typedef err_t http_handler(struct http_exchange *x, void *arg);

/* Shared by all HTTP connections; owned by the program. */
struct http_service {
    struct session_env *env;
    struct http_mux *mux;
    struct http_clock clock;
    http_handler *tunnel;    /* called before the mux; NULL: none */
    unsigned long requests;  /* total */
};

static inline struct http_service *http_service_of(const struct session_env *env)
{
    return env->service[PROTOCOL_HTTP];
}

/* One request and its response. Everything belongs to the session and lives as long as the handler
 * runs. */
struct http_exchange {
    struct session_env *env;
    struct http_request *req;
    struct http_response *resp;
    struct http_reader *reader;     /* for the body of the request */
    struct io *io;
    struct conf *conf;              /* the snapshot in force when the request began, referenced */
    const struct conf_vhost *vhost; /* named by Host or `vhost=`; NULL: no such vhost */
    const char *ip;                 /* client address, by trusted_proxies; else that of the peer */
    const char *peer;               /* address of the peer of the connection */
    int port;
    enum http_ports ports;          /* services of its endpoint */
    bool tls;
    bool reserved;                  /* uses one of limits.api_reserve: `ports` are those it may
                                     * use */
    bool declined;                  /* set by a handler that does not answer this request */
    const char *cache;              /* set by a handler that declines: the Cache-Control of the
                                     * static file; NULL: by its extension */
    bool moved;                     /* came from another worker: stays here */
    int move_to;                    /* set by http_exchange_move(); -1: none */
    struct address_slot *slot;      /* per-address slot of the connection */
    bool taken;                     /* set by http_exchange_take() */
};

/* Checks whether the client may do `what` to a live stream of x->vhost, by security and refer
 * rules: ERR_DENIED, ERR_REFER_DENIED. */
err_t http_exchange_allowed(const struct http_exchange *x, enum conf_action what)
    __attribute__((warn_unused_result));

/* Moves the request and its connection to another worker. Nothing may have been sent, and the
 * handler must return NULL right after. Returns false if the request must be answered here: this is
 * that worker, the request came from another worker already, or the server is shutting down. */
bool http_exchange_move(struct http_exchange *x, unsigned to);

/* Takes the connection away from HTTP: the handler now owns x->io and the per-address slot. It
 * sends any response itself and returns. It must copy what it needs of the request and the bytes
 * behind it. */
void http_exchange_take(struct http_exchange *x, struct address_slot *slot);

/* Implements accept() of struct protocol. Also serves a connection to a port of another protocol
 * that turned out to use HTTP. */
err_t http_accept(struct session_env *env, const struct protocol_accepted *accepted,
                  struct address_slot *slot) __attribute__((warn_unused_result));
/* Serves any io until it ends and returns the reason. For tests. */
err_t http_session_run(struct http_service *service, struct io *io, const char *ip)
    __attribute__((warn_unused_result));

#endif
