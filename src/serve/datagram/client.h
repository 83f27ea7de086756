/* SPDX-License-Identifier: MIT */
/* client.h - one client over datagrams, whatever its protocol: its session, state, timer and end.
 *
 * A coroutine admits it. A publisher keeps that coroutine until its end. A player has none: one
 * walk serves all players of a stream (streams.h), which checks each of them once a second, and
 * one coroutine of the service closes clients in turn.
 *
 * A client of a protocol begins with this one; what differs is a row of functions.
 */
#ifndef SERVE_DATAGRAM_CLIENT_H
#define SERVE_DATAGRAM_CLIENT_H

#include "serve/datagram/streams.h"
#include "session/address_limits.h"
#include "session/player.h"

enum { DATAGRAM_CID = 9 };

enum datagram_state {
    DATAGRAM_ADMITTING,   /* in a coroutine */
    DATAGRAM_WAITING,     /* it is admitted and has its answer; nothing came of it since */
    DATAGRAM_HANDSHAKING, /* something came */
    DATAGRAM_ACTIVE,      /* it publishes or plays */
    DATAGRAM_ENDING,
};

struct datagram_client_ops {
    /* Its end, in the coroutine that closes clients: c->session is left, c is freed. Takes over
     * `why`. Yields. */
    void (*close)(struct datagram_client *c, err_t why);
    /* Its timer is due, or a batch with packets of it has been read. Does not yield. NULL: it has
     * no timer. */
    void (*turn)(struct datagram_client *c, co_usec now);

    /* of players, once a second; none yields */
    enum sampled_kind sampled;
    /* The configuration changed: why it may not go on, or NULL. */
    err_t (*changed)(struct datagram_client *c);
    void (*check)(struct datagram_client *c, co_usec now); /* its counters and log lines */
    void (*log_sample)(const struct datagram_client *c, co_usec now);
};

struct datagram_client {
    struct session session;
    const struct datagram_client_ops *ops; /* once it is admitted */
    struct datagram_service *service;
    enum datagram_state state;     /* by datagram_client_state(), which counts */
    bool publishes;                /* when it is active */
    struct datagram_stream *stream; /* that it plays, or relays to, with a reference; or NULL */
    struct datagram_player player; /* of that stream */
    struct co_timer timer;
    struct address_slot place;      /* by `limits` */
    struct datagram_client *next, **prev; /* of the service */
    struct datagram_close_item leaver;
    char *names;                   /* memory of session.names */
    char cid[DATAGRAM_CID];        /* of its log lines; session.id is it */
    char ip[UDP_TEXT];             /* without the port; session.names.ip is it */
    err_t why;                     /* it is closed: by this */
};

/* A zeroed one. Its protocol sets session.names after it. */
void datagram_client_init(struct datagram_client *c, struct session_env *env);
void datagram_client_fini(struct datagram_client *c);
/* It is in the list and the counters of the service; or no longer. */
void datagram_client_enter(struct datagram_client *c, struct datagram_service *s);
void datagram_client_part(struct datagram_client *c);
void datagram_client_state(struct datagram_client *c, enum datagram_state state);

/* It is closed soon, by that error, which is taken over: a coroutine of its own is stopped, one
 * without is closed by ops->close(). May be called again. Does not yield. */
void datagram_client_close(struct datagram_client *c, err_t why);
void datagram_clients_close(struct datagram_service *s, const char *why); /* all of them */

/* ops->turn() is called then; CO_FOREVER: never. */
void datagram_client_timer(struct datagram_client *c, co_usec due, co_usec now);
/* ops->turn(), with log lines as the client's own. */
void datagram_client_turn(struct datagram_client *c, co_usec now);
/* Once a second, of a player: its token, the configuration, counters, log lines. It may be
 * closed. */
void datagram_client_check(struct datagram_client *c, co_usec now);

#endif
