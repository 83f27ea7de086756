/* SPDX-License-Identifier: MIT */
/* server_parts.h - what a server has at one worker; for server*.c and crew.c alone. */
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

struct server { /* all of it belongs to the worker's thread */
    struct session_env env; /* what connections see of us; its arg is this */
    struct rtmp_in_pool messages;
    char id[SERVER_ID];
    char run[SERVER_RUN]; /* tells this run of the server from all others */
    struct machine machine;
    struct reload_report reload;
    struct watch *watch;   /* of the first worker; else NULL, as */
    struct history *history;
    struct api *api;
    struct http_service http;
    struct listeners *listeners;
    struct services_tls tls;
    struct co_group helpers; /* what runs beside the connections */
    struct sinks *sinks;
    struct co_group connections;
    long files; /* descriptors that we may have; 0: nobody knows */
    struct worker_threads
        *worker_threads; /* of the first worker: the threads of the others; NULL: there are none */
};

/* Who it is, and which worker: 0 without `workers`, which are borrowed. */
struct server_self {
    struct conf *conf;
    const char *id, *run;
    struct workers *workers;
    struct peers *peers;
    struct guard *guard;
    unsigned worker;
};

struct server *server_make(const struct server_self *self);
/* server_datagram.c: services over datagrams, those that are on, at all workers. Yields. */
err_t server_datagram_listen(struct server *s) __attribute__((warn_unused_result));
/* What another configuration wants of them: sockets that are missing; then each worker's part of
 * it, once that is in force. NULL to be freed is fine. */
struct server_datagram_next;
err_t server_datagram_prepare(struct server_datagram_next **out, struct session_env *env,
                              const struct conf *conf) __attribute__((warn_unused_result));
err_t server_datagram_apply(struct session_env *env, struct server_datagram_next *next)
    __attribute__((warn_unused_result));
void server_datagram_next_free(struct server_datagram_next *next);
/* At that worker: nobody new; another snapshot; the end of all clients, which yields. */
void server_datagram_refuse(const struct session_env *env);
void server_datagram_reload(const struct session_env *env);
void server_datagram_free(const struct session_env *env);
/* What runs beside the connections, once it listens. */
err_t server_run(struct server *s) __attribute__((warn_unused_result));
/* Publish what this worker counts. */
void server_sample(struct session_env *env);
/* First all connections of all workers end, then the rest of each. Both yield. */
void server_stop(struct server *s);
void server_unmake(struct server *s);

/* Another snapshot, ready for all workers: what each of them puts in force. */
struct server_next {
    struct conf *conf;
    struct listeners_plan *plan;
    struct server_datagram_next *datagram;
    struct server_next_part {
        struct services_tls tls;
        struct jwks_files *jwks;
    } part[WORKERS_MAX]; /* taken over by their workers */
};
/* A workers_fn: the worker's part of a struct server_next. */
void server_apply(struct session_env *env, void *next);

/* Gets each connection that came: a listeners_accept. */
void server_accept(void *server, const struct listeners_guest *guest);

#endif
