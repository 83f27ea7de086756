/* SPDX-License-Identifier: MIT */
/* datagram.h - a service over datagrams: what all protocols of that kind have in common.
 *
 * A worker has one service of each protocol, with an endpoint for each address that it listens on:
 * a socket of its own and a coroutine that reads it. Clients have no socket (client.h). A datagram
 * that came to one worker and is another's is passed on (pass.h). A protocol is a row of functions,
 * its service, endpoints and clients begin with those here.
 *
 * A service is of its worker's thread.
 */
#ifndef SERVE_DATAGRAM_DATAGRAM_H
#define SERVE_DATAGRAM_DATAGRAM_H

#include "co/net/udp.h"
#include "session/env.h"
#include "session/address_limits.h"
#include "session/workers.h"

struct sock_filter;

enum { DATAGRAM_CHOICE_STEPS = 16 };

/* What the services of all workers have in common: whatever changes is atomic. */
struct datagram_shared {
    const struct datagram_protocol *protocol;
    atomic_uint refs;
    unsigned workers;
    unsigned numbers;          /* endpoints so far: the first worker's alone */
    struct address_limits *peers;       /* clients by address, for the limits of the protocol */
    atomic_uint mails[WORKERS_MAX]; /* datagrams on their way to that worker */
};

/* What an endpoint is at all workers: one that is not listened on any more stays at all of them
 * for as long as one of them has clients by it. */
enum datagram_life { DATAGRAM_OPEN, DATAGRAM_CLOSING, DATAGRAM_CLOSED };
struct datagram_place {
    atomic_uint refs, idle;    /* idle: workers that have none */
    atomic_int life;           /* from closing it may be opened again, from closed it may not */
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
    struct udp *socket;        /* of the first reader: what is sent goes by it */
    unsigned number;           /* the same at all workers: its name among them */
    char *text, *host;         /* as configured */
    int port;
    unsigned n_readers;
    struct datagram_reader *readers;
    struct datagram_place *place;
    bool closing;              /* it is for those who are here, not for others */
    unsigned families;         /* bits of DATAGRAM_V4 and _V6: whose new clients it takes */
    bool idle;                 /* and counts as such in its place */
    bool gone;                 /* it goes with its last reader */
};

struct datagram_client;

/* What the coroutine that closes clients has to do. */
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
    unsigned n_peers;          /* clients, in all states */
    struct datagram_client *clients; /* client.h */
    unsigned waiting, publishers, players; /* of them: not active yet; active */
    unsigned holds;            /* requests in the middle of something here */
    bool closes;               /* a coroutine looks after endpoints that are closing */
    bool refuses;              /* who comes from now on */
    struct co_group group;     /* readers, and the next one */
    struct co *ender;          /* closes clients */
    struct datagram_close_item *leaving, **leaving_end;
    struct co *waiter;         /* until all have gone */
    uint64_t passed, unreachable; /* datagrams for other workers */
};

struct datagram_protocol {
    enum protocol_id id;
    const char *name;          /* in the log: "WebRTC" */
    const char *reader, *ender; /* its coroutines */
    /* What says whose a datagram is (udp_bind_group): so many steps, at most
     * DATAGRAM_CHOICE_STEPS. NULL: its address does. */
    unsigned (*choice)(struct sock_filter *code, unsigned workers);
    /* Made by calloc() with one reference; freed with the last one, by any thread. */
    struct datagram_shared *(*share)(unsigned workers);
    void (*unshare)(struct datagram_shared *shared); /* what share() made in it; or NULL */
    /* The service of a worker, zeroed but for what is the protocol's: env->service[id] then. */
    struct datagram_service *(*make)(struct session_env *env, struct datagram_shared *shared);
    void (*begun)(struct datagram_service *s);  /* it reads; or NULL */
    void (*reload)(struct datagram_service *s); /* env->conf is another one; or NULL */
    /* All clients are to end, by that reason; may be called again. NULL: datagram_clients_close()
     * does it. */
    void (*end_all)(struct datagram_service *s, const char *why);
    unsigned (*sockets)(const struct conf *conf); /* of all workers; NULL: one for each */
    bool (*in_use)(const struct datagram_endpoint *e); /* by clients of this worker, or others' */
    void (*free)(struct datagram_service *s);   /* nobody is left */
    struct datagram_endpoint *(*endpoint)(struct datagram_service *s); /* a new one, by malloc */
    struct udp_opts (*opts)(const struct conf *conf);
    void (*opened)(struct datagram_endpoint *e, int fd);  /* or NULL */
    void (*closing)(struct datagram_endpoint *e);         /* or NULL */
    /* A datagram that came by way of that worker: `via` is another one's if it was passed on. None
     * of these yields. */
    void (*input)(struct datagram_endpoint *e, const struct udp_in *in, unsigned via, co_usec now);
    void (*end_batch)(struct datagram_endpoint *e);       /* or NULL */
    /* What datagram_send_message() said at worker `from`; NULL: nobody says anything. */
    void (*told)(struct datagram_endpoint *e, const struct udp_addr *peer, unsigned from,
                 unsigned word);
};

/* Where it listens: the first endpoint of conf_protocol(p->id). NULL: it is off. */
const struct conf_endpoints *datagram_listen(const struct datagram_protocol *p,
                                             const struct conf *conf);

/* ---- sockets of all workers: opened by the first one, before the others run or when what is
 * configured has changed */
struct datagram_planned {
    char *text, *host;
    int port;
    unsigned families;
    unsigned number;
    unsigned rounds;           /* sockets to be added, at each worker; 0: it has all */
    int *fds;                  /* [round * workers + worker]; -1: taken */
    struct datagram_place *place;
    bool again;                /* it was closing */
};

struct datagram_sockets {
    const struct datagram_protocol *protocol;
    bool on, applied;
    size_t n;                  /* endpoints that are wanted; 0 where it is off */
    struct datagram_planned *v;
    unsigned workers;
    struct datagram_shared *shared;
};
/* `have` is the first worker's service now; NULL: there is none. */
err_t datagram_sockets_open(struct datagram_sockets **out, const struct datagram_protocol *p,
                            const struct datagram_service *have, const struct conf *conf,
                            unsigned workers) __attribute__((warn_unused_result));
void datagram_sockets_close(struct datagram_sockets *s); /* those that nobody took; NULL is fine */
void datagram_place_unref(struct datagram_place *place);
struct datagram_shared *datagram_shared_ref(struct datagram_shared *shared);
void datagram_shared_unref(struct datagram_shared *shared);

/* ---- service.c */
/* Take this worker's sockets and read: it is in its place of env then. */
err_t datagram_service_new(struct session_env *env, struct datagram_sockets *sockets)
    __attribute__((warn_unused_result));
/* At this worker as planned: what is new is read, what is not wanted any more closes when its
 * clients have gone. Made where there is none and it is on; off: all clients end. */
err_t datagram_service_apply(struct session_env *env, struct datagram_sockets *sockets)
    __attribute__((warn_unused_result));
void datagram_service_refuse(struct datagram_service *s); /* NULL is fine, as for the next one */
/* All clients are told to end; waits until they have. Yields. */
void datagram_service_free(struct datagram_service *s);
/* A client more; one less. */
void datagram_service_enter(struct datagram_service *s);
void datagram_service_part(struct datagram_service *s);
/* It stays for as long as what calls needs it, which may yield and takes a bounded time. */
void datagram_service_hold(struct datagram_service *s);
void datagram_service_release(struct datagram_service *s);
/* What its sockets counted, added. */
void datagram_service_count(const struct datagram_service *s, struct udp_stat *sum);

/* Rows of counters for a struct udp_stat at that offset. */
#define DATAGRAM_COUNTERS(name, offset)                                                          \
    { name "_datagrams_in_total", "Datagrams that came.",                                        \
      .at = (offset) + offsetof(struct udp_stat, in) },                                          \
    { name "_calls_in_total", "System calls that gave them.",                                    \
      .at = (offset) + offsetof(struct udp_stat, in_calls) },                                    \
    { name "_datagrams_out_total", "Datagrams that went.",                                       \
      .at = (offset) + offsetof(struct udp_stat, out) },                                         \
    { name "_calls_out_total", "System calls that sent them.",                                   \
      .at = (offset) + offsetof(struct udp_stat, out_calls) }

/* ---- endpoint.c */
/* Does it take nobody new by that path? Clients that are here stay. */
bool datagram_endpoint_refuses(const struct datagram_endpoint *e, const struct udp_path *path);
struct datagram_endpoint *datagram_endpoint_find(const struct datagram_service *s,
                                                 unsigned number); /* NULL: it is gone */
/* The one of that address; NULL: it is not there. */
struct datagram_endpoint *datagram_endpoint_at(const struct datagram_service *s, const char *host,
                                               int port);
/* As planned, with what it has already; takes its descriptors. */
err_t datagram_endpoint_take(struct datagram_service *s, struct datagram_planned *planned)
    __attribute__((warn_unused_result));
/* All that is not planned is for those who are here from now on. */
void datagram_endpoint_close_others(struct datagram_service *s, const struct datagram_sockets *v);
void datagram_endpoint_free(struct datagram_endpoint *e); /* its readers have ended */

/* ---- client.c */
/* fn is called soon, in the coroutine that closes clients. Does not yield. */
void datagram_close(struct datagram_service *s, struct datagram_close_item *l,
                    void (*fn)(struct datagram_close_item *l));
err_t datagram_close_main(void *service); /* co_fn */
/* fn is called then, or at once if that is over; CO_FOREVER: never. On a grid of 10 ms, so that
 * timers of many clients are due together. */
void datagram_timer_set(struct co_timer *t, co_usec due, co_usec now,
                        void (*fn)(struct co_timer *t));

#endif
