/* SPDX-License-Identifier: MIT */
/* server_parts.h - the part of the server on one worker; private to server*.c and
 * worker_threads.c. */
#ifndef APP_SERVER_PARTS_H
#define APP_SERVER_PARTS_H

#include "app/api/api.h"
#include "app/listeners.h"
#include "app/server.h"
#include "app/services.h"
#include "proto/rtmp/chunk_in.h"
#include "serve/http/http.h"
#include "session/workers.h"

enum { SERVER_ID = 128, SERVER_RUN = 9 };

struct server { /* used on the worker's thread only */
    struct session_env env; /* the environment of sessions; its `arg` is this struct */
    struct rtmp_in_pool messages;
    char id[SERVER_ID];
    char run[SERVER_RUN]; /* id of this run of the server */
    struct machine machine;
    struct reload_report reload;
    struct watch *watch;   /* on the first worker; NULL on others, and so is */
    struct history *history;
    struct api *api;
    struct http_service http;
    struct listeners *listeners;
    struct services_tls tls;
    struct co_group helpers; /* coroutines that serve no connection */
    struct sinks *sinks;
    struct co_group connections;
    long files; /* limit of file descriptors; 0: unknown */
    struct worker_threads *worker_threads; /* set on the first worker if there are others */
};

/* Arguments of server_make(). Without `workers` (borrowed), `worker` is 0. */
struct server_self {
    struct conf *conf;
    const char *id, *run;
    struct workers *workers;
    struct address_limits *peers;
    struct guard *guard;
    unsigned worker;
};

struct server *server_make(const struct server_self *self);
/* server_datagram.c. Starts the enabled datagram services on all workers. Yields. */
err_t server_datagram_listen(struct server *s) __attribute__((warn_unused_result));
/* Opens the sockets that a new configuration adds; then each worker applies its part. Freeing NULL
 * is fine. */
struct server_datagram_next;
err_t server_datagram_prepare(struct server_datagram_next **out, struct session_env *env,
                              const struct conf *conf) __attribute__((warn_unused_result));
err_t server_datagram_apply(struct session_env *env, struct server_datagram_next *next)
    __attribute__((warn_unused_result));
void server_datagram_next_free(struct server_datagram_next *next);
/* On the calling worker: refuses new clients; applies a new snapshot; ends all clients (yields). */
void server_datagram_refuse(const struct session_env *env);
void server_datagram_reload(const struct session_env *env);
void server_datagram_free(const struct session_env *env);
/* Starts the helper coroutines. Call it when the server listens. */
err_t server_run(struct server *s) __attribute__((warn_unused_result));
/* Publishes the counters of this worker. */
void server_sample(struct session_env *env);
/* server_stop() ends the connections; when those of all workers have ended, server_unmake() frees
 * the rest. Both yield. */
void server_stop(struct server *s);
void server_unmake(struct server *s);

/* A new configuration with everything that the workers need to apply it. */
struct server_next {
    struct conf *conf;
    struct listeners_plan *plan;
    struct server_datagram_next *datagram;
    struct server_next_part {
        struct services_tls tls;
        struct jwks_files *jwks;
    } part[WORKERS_MAX]; /* each worker takes over its part */
};
/* A workers_fn: applies the worker's part of a struct server_next. */
void server_apply(struct session_env *env, void *next);

/* A listeners_accept: handles each accepted connection. */
void server_accept(void *server, const struct listeners_guest *guest);

#endif
