/* SPDX-License-Identifier: MIT */
/* http.h - serve HTTP clients, and what a handler of requests gets.
 *
 * One coroutine per connection reads requests one after the other and has the mux (http_mux.h)
 * find who answers. A handler answers by x->resp, or declines and the next one is asked. Handlers
 * yield whenever they send; what they hold of shared tables is stale then.
 */
#ifndef SERVE_HTTP_HTTP_H
#define SERVE_HTTP_HTTP_H

#include "proto/http/request.h"
#include "proto/http/response.h"
#include "session/env.h"
#include "session/address_limits.h"

struct http_mux;
struct protocol_accepted;

/* What an endpoint serves; endpoints that are written twice serve both. */
enum http_ports {
    HTTP_PORT_SERVER = 1, HTTP_PORT_API = 2, HTTP_PORT_ALL = 3, HTTP_PORT_EXPORTER = 4,
};

struct http_exchange;

/* Answers the request, or sets x->declined before anything was sent. An error ends the
 * connection; what the client did wrong is an answer (http_response_status) and no error. */
typedef err_t http_handler(struct http_exchange *x, void *arg);

/* Shared by all HTTP connections; owned by the program. */
struct http_service {
    struct session_env *env;
    struct http_mux *mux;
    struct http_clock clock;
    http_handler *first;    /* asked before the mux; NULL: nobody is */
    unsigned long requests; /* so far */
};

static inline struct http_service *http_service_of(const struct session_env *env)
{
    return env->service[PROTOCOL_HTTP];
}

/* One request and its answer. All of it is the session's and lives as long as the handler runs. */
struct http_exchange {
    struct session_env *env;
    struct http_request *req;
    struct http_response *resp;
    struct http_reader *reader;     /* for the body of the request */
    struct io *io;
    struct conf *conf;              /* the snapshot in force when it began, referenced */
    const struct conf_vhost *vhost; /* of the Host, or of `vhost=`; NULL: there is none */
    const char *ip;                 /* of the client, as trusted_proxies say; else of the peer */
    const char *peer;               /* of the connection itself */
    int port;
    enum http_ports ports;          /* of the endpoint it came by */
    bool tls;
    bool reserved;                  /* one of limits.api_reserve: `ports` are those it may use */
    bool declined;                  /* set by a handler that does not want it after all */
    const char *cache;              /* set by one, if it declines: the Cache-Control of the static
                                     * file; NULL: as its ending says */
    bool moved;                     /* it came from another worker: here it stays */
    int move_to;                    /* by http_exchange_move(); -1: nowhere */
    struct address_slot *place;      /* of the connection among those of its address */
    bool taken;                     /* by http_exchange_take() */
};

/* May the client do that to a live stream of x->vhost? Security and refer rules: ERR_DENIED,
 * ERR_REFER_DENIED. */
err_t http_exchange_allowed(const struct http_exchange *x, enum conf_action what)
    __attribute__((warn_unused_result));

/* Have the request answered by another worker, which gets the connection with it: nothing was sent
 * yet, and the handler returns NULL right behind. False: it is this one, or the request came from
 * another one already: it is to be answered here. */
bool http_exchange_move(struct http_exchange *x, unsigned to);

/* The connection is no longer HTTP's: x->io is the handler's from now on, with its place among the
 * connections. The handler answers by itself, if at all, and returns; what it needs of the request,
 * and what came behind that, it copies. */
void http_exchange_take(struct http_exchange *x, struct address_slot *place);

/* As in struct protocol: also of a connection to a port of another protocol, which turned out to
 * speak HTTP. */
err_t http_accept(struct session_env *env, const struct protocol_accepted *guest,
                  struct address_slot *place) __attribute__((warn_unused_result));
/* Serve over any pipe, for tests, until the end; returns why it ended. */
err_t http_session_run(struct http_service *service, struct io *io, const char *ip)
    __attribute__((warn_unused_result));

#endif
