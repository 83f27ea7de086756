/* SPDX-License-Identifier: MIT */
/* datagram.h - the common part of all datagram protocols: services, endpoints and clients.
 *
 * A worker has one service per protocol, with an endpoint for each listen address: a socket and a
 * coroutine that reads it. Clients have no socket (client.h). A datagram that arrives at a worker
 * but belongs to another one is passed on (pass.h). A protocol is a row of functions; its service,
 * endpoint and client structs begin with those here.
 *
 * A service is used on its worker's thread only.
 */
#ifndef SERVE_DATAGRAM_DATAGRAM_H
#define SERVE_DATAGRAM_DATAGRAM_H

#include "co/net/udp.h"
#include "session/env.h"
#include "session/address_limits.h"
#include "session/workers.h"

struct sock_filter;

enum { DATAGRAM_CHOICE_STEPS = 16 };

/* Shared by the services of all workers; mutable members are atomic. */
struct datagram_shared {
    const struct datagram_protocol *protocol;
    atomic_uint refs;
    unsigned workers;
    unsigned numbers;          /* endpoints created so far; used by the first worker only */
    struct address_limits *peers; /* clients by address, for the limits of the protocol */
    atomic_uint mails[WORKERS_MAX]; /* datagrams in flight to each worker */
};

/* The state of an endpoint on all workers: an endpoint that was removed from the configuration
 * stays on all workers as long as one of them has clients there. */
enum datagram_life { DATAGRAM_OPEN, DATAGRAM_CLOSING, DATAGRAM_CLOSED };
struct datagram_place {
    atomic_uint refs, idle;    /* idle: workers without clients */
    atomic_int life;           /* CLOSING may become OPEN again, CLOSED may not */
    unsigned workers;
};

enum { DATAGRAM_V4 = 1, DATAGRAM_V6 = 2 };

struct datagram_reader {
    struct datagram_reader *next;
    struct datagram_endpoint *endpoint;
    struct udp *socket;
    struct co *co;
};

struct datagram_endpoint {
    struct datagram_service *service;
    struct udp *socket;        /* socket of the first reader, used for sending */
    unsigned number;           /* identifies the endpoint on all workers */
    char *text, *host;         /* as configured */
    int port;
    unsigned n_readers;
    struct datagram_reader *readers;
    struct datagram_place *place;
    bool closing;              /* it serves existing clients only */
    unsigned families;         /* DATAGRAM_V4 and _V6: families of accepted new clients */
    bool idle;                 /* it has no clients here, and is counted as idle */
    bool gone;                 /* it is freed with its last reader */
};

struct datagram_client;

/* A job of the coroutine that closes clients. */
struct datagram_close_item {
    struct datagram_close_item *next;
    void (*fn)(struct datagram_close_item *l);
};

struct datagram_service {
    const struct datagram_protocol *protocol;
    struct session_env *env;
    struct datagram_shared *shared;
    struct datagram_endpoint **endpoints;
    unsigned n_endpoints;
    unsigned n_peers;          /* clients in all states */
    struct datagram_client *clients; /* client.h */
    unsigned waiting, publishers, players; /* clients not active yet; active ones */
    unsigned holds;            /* requests that use the service */
    bool closes;               /* a coroutine watches closing endpoints */
    bool refuses;              /* new clients are refused */
    struct co_group group;     /* coroutines of readers, and the ender */
    struct co *ender;          /* closes clients */
    struct datagram_close_item *leaving, **leaving_end;
    struct co *waiter;         /* waits until all clients have ended */
    uint64_t passed, unreachable; /* datagrams passed to other workers; dropped ones */
};

struct datagram_protocol {
    enum protocol_id id;
    const char *name;          /* for the log: "WebRTC" */
    const char *reader, *ender; /* names of its coroutines */
    /* Writes the program that selects the worker of a datagram (udp_bind_group) and returns its
     * length, at most DATAGRAM_CHOICE_STEPS. NULL: the address decides. */
    unsigned (*choice)(struct sock_filter *code, unsigned workers);
    /* Creates the shared part with calloc() and one reference; any thread may free it. */
    struct datagram_shared *(*share)(unsigned workers);
    void (*unshare)(struct datagram_shared *shared); /* frees its members; or NULL */
    /* Creates the service of a worker, zeroed except the protocol's members; env->service[id]. */
    struct datagram_service *(*make)(struct session_env *env, struct datagram_shared *shared);
    void (*begun)(struct datagram_service *s);  /* reading has started; or NULL */
    void (*reload)(struct datagram_service *s); /* env->conf has changed; or NULL */
    /* Ends all clients with a reason; may be called again. NULL: datagram_clients_close(). */
    void (*end_all)(struct datagram_service *s, const char *why);
    unsigned (*sockets)(const struct conf *conf); /* number for all workers; NULL: one for each */
    bool (*in_use)(const struct datagram_endpoint *e); /* by clients of any worker */
    void (*free)(struct datagram_service *s);   /* called when no client is left */
    struct datagram_endpoint *(*endpoint)(struct datagram_service *s); /* creates one, malloc'ed */
    struct udp_opts (*opts)(const struct conf *conf);
    void (*opened)(struct datagram_endpoint *e, int fd);  /* or NULL */
    void (*closing)(struct datagram_endpoint *e);         /* or NULL */
    /* A datagram arrived; `via` is the worker that received it, which may have passed it on. None
     * of these yields. */
    void (*input)(struct datagram_endpoint *e, const struct udp_in *in, unsigned via, co_usec now);
    void (*end_batch)(struct datagram_endpoint *e);       /* or NULL */
    /* Receives a datagram_send_message() of worker `from`; NULL: not used. */
    void (*told)(struct datagram_endpoint *e, const struct udp_addr *peer, unsigned from,
                 unsigned word);
};

/* Returns the listen addresses: the first endpoint of conf_protocol(p->id). NULL: it is off. */
const struct conf_endpoints *datagram_listen(const struct datagram_protocol *p,
                                             const struct conf *conf);

/* ---- sockets of all workers, opened by the first one at the start and after a change of the
 * configuration */
struct datagram_planned {
    char *text, *host;
    int port;
    unsigned families;
    unsigned number;
    unsigned rounds;           /* sockets to add at each worker; 0: none */
    int *fds;                  /* [round * workers + worker]; -1: taken */
    struct datagram_place *place;
    bool again;                /* it was closing and opens again */
};

struct datagram_sockets {
    const struct datagram_protocol *protocol;
    bool on, applied;
    size_t n;                  /* number of configured endpoints; 0: the protocol is off */
    struct datagram_planned *v;
    unsigned workers;
    struct datagram_shared *shared;
};
/* `have` is the first worker's current service, or NULL. */
err_t datagram_sockets_open(struct datagram_sockets **out, const struct datagram_protocol *p,
                            const struct datagram_service *have, const struct conf *conf,
                            unsigned workers) __attribute__((warn_unused_result));
void datagram_sockets_close(struct datagram_sockets *s); /* closes unused sockets; NULL is fine */
void datagram_place_unref(struct datagram_place *place);
struct datagram_shared *datagram_shared_ref(struct datagram_shared *shared);
void datagram_shared_unref(struct datagram_shared *shared);

/* ---- service.c */
/* Takes this worker's sockets and starts to read; stores the service in env. */
err_t datagram_service_new(struct session_env *env, struct datagram_sockets *sockets)
    __attribute__((warn_unused_result));
/* Applies the plan on this worker: reads new sockets, and closes removed endpoints when their
 * clients have ended. Creates the service if needed; if the protocol is off, ends all clients. */
err_t datagram_service_apply(struct session_env *env, struct datagram_sockets *sockets)
    __attribute__((warn_unused_result));
/* Refuses new clients. NULL is fine, also for the next one. */
void datagram_service_refuse(struct datagram_service *s);
/* Ends all clients and waits for them. Yields. */
void datagram_service_free(struct datagram_service *s);
/* Count a client. */
void datagram_service_enter(struct datagram_service *s);
void datagram_service_part(struct datagram_service *s);
/* Keep the service alive while the caller uses it, which may yield and takes a limited time. */
void datagram_service_hold(struct datagram_service *s);
void datagram_service_release(struct datagram_service *s);
/* Adds the counters of its sockets. */
void datagram_service_count(const struct datagram_service *s, struct udp_stat *sum);

/* Rows of counters for a struct udp_stat at an offset. */
#define DATAGRAM_COUNTERS(name, offset)                               \
    { name "_datagrams_in_total", "Datagrams received.",              \
      .at = (offset) + offsetof(struct udp_stat, in) },               \
        { name "_calls_in_total", "System calls that received them.", \
          .at = (offset) + offsetof(struct udp_stat, in_calls) },     \
        { name "_datagrams_out_total", "Datagrams sent.",             \
          .at = (offset) + offsetof(struct udp_stat, out) },          \
    {                                                                 \
        name "_calls_out_total", "System calls that sent them.",      \
            .at = (offset) + offsetof(struct udp_stat, out_calls)     \
    }

/* ---- endpoint.c */
/* Returns true if it refuses new clients on that path. Existing clients stay. */
bool datagram_endpoint_refuses(const struct datagram_endpoint *e, const struct udp_path *path);
struct datagram_endpoint *datagram_endpoint_find(const struct datagram_service *s,
                                                 unsigned number); /* NULL: it was freed */
/* Finds an endpoint by address, or NULL. */
struct datagram_endpoint *datagram_endpoint_at(const struct datagram_service *s, const char *host,
                                               int port);
/* Applies a planned endpoint, existing or new; takes its descriptors. */
err_t datagram_endpoint_take(struct datagram_service *s, struct datagram_planned *planned)
    __attribute__((warn_unused_result));
/* Makes all endpoints that are not planned serve existing clients only. */
void datagram_endpoint_close_others(struct datagram_service *s, const struct datagram_sockets *v);
void datagram_endpoint_free(struct datagram_endpoint *e); /* after its readers have ended */

/* ---- client.c */
/* Calls fn soon in the coroutine that closes clients. Does not yield. */
void datagram_close(struct datagram_service *s, struct datagram_close_item *l,
                    void (*fn)(struct datagram_close_item *l));
err_t datagram_close_main(void *service); /* co_fn */
/* Schedules fn at `due`, or immediately if that has passed; CO_FOREVER: never. Times are rounded to
 * 10 ms, so that timers of many clients are due together. */
void datagram_timer_set(struct co_timer *t, co_usec due, co_usec now,
                        void (*fn)(struct co_timer *t));

#endif
