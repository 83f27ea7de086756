/* SPDX-License-Identifier: MIT */
/* client.h - a client of any datagram protocol: its session, state, timer and end.
 *
 * A coroutine admits the client. A publisher keeps that coroutine until its end. A player has none:
 * one walk serves all players of a stream (streams.h), a coroutine checks them once a second, and
 * one coroutine of the service closes clients one after the other.
 *
 * A protocol's client struct begins with this one; a row of functions has the differences.
 */
#ifndef SERVE_DATAGRAM_CLIENT_H
#define SERVE_DATAGRAM_CLIENT_H

#include "serve/datagram/streams.h"
#include "session/address_limits.h"
#include "session/player.h"

enum { DATAGRAM_CID = 9 };

enum datagram_state {
    DATAGRAM_ADMITTING,   /* in a coroutine */
    DATAGRAM_WAITING,     /* admitted, has its response, and has sent nothing since */
    DATAGRAM_HANDSHAKING, /* has sent something */
    DATAGRAM_ACTIVE,      /* publishes or plays */
    DATAGRAM_ENDING,
};

struct datagram_client_ops {
    /* Ends the client in the coroutine that closes clients: leaves c->session and frees c. Takes
     * over `why`. Yields. */
    void (*close)(struct datagram_client *c, err_t why);
    /* Called when its timer is due, or after a batch with its packets was read. Does not yield.
     * NULL: no timer. */
    void (*turn)(struct datagram_client *c, co_usec now);

    /* for players, called once a second; none yields */
    enum sampled_kind sampled;
    /* The configuration changed: returns an error if the client must end. */
    err_t (*changed)(struct datagram_client *c);
    void (*check)(struct datagram_client *c, co_usec now); /* its counters and log lines */
    void (*log_sample)(const struct datagram_client *c, co_usec now);
};

struct datagram_client {
    struct session session;
    const struct datagram_client_ops *ops; /* set when it is admitted */
    struct datagram_service *service;
    enum datagram_state state;     /* set by datagram_client_state(), which counts */
    bool publishes;                /* valid when it is active */
    struct datagram_stream *stream; /* the stream that it plays or relays to, referenced; or NULL */
    struct datagram_player player; /* its entry in that stream */
    struct co_timer timer;
    struct address_slot place;     /* its slot in `limits` */
    struct datagram_client *next, **prev; /* in the service */
    struct datagram_close_item leaver;
    char *names;                   /* memory of session.names */
    char cid[DATAGRAM_CID];        /* id in log lines; session.id points to it */
    char ip[UDP_TEXT];             /* address without port; session.names.ip points to it */
    err_t why;                     /* why it is being closed; NULL: it is not */
};

/* Initializes a zeroed client. Its protocol sets session.names afterwards. */
void datagram_client_init(struct datagram_client *c, struct session_env *env);
void datagram_client_fini(struct datagram_client *c);
/* Add it to and remove it from the list and the counters of the service. */
void datagram_client_enter(struct datagram_client *c, struct datagram_service *s);
void datagram_client_part(struct datagram_client *c);
void datagram_client_state(struct datagram_client *c, enum datagram_state state);

/* Closes it soon with an error, which is taken over: stops its coroutine, or without one schedules
 * ops->close(). May be called again. Does not yield. */
void datagram_client_close(struct datagram_client *c, err_t why);
void datagram_clients_close(struct datagram_service *s, const char *why); /* closes all */

/* Schedules ops->turn(); CO_FOREVER: never. */
void datagram_client_timer(struct datagram_client *c, co_usec due, co_usec now);
/* Calls ops->turn(); log lines have the client's id. */
void datagram_client_turn(struct datagram_client *c, co_usec now);
/* Checks a player once a second: token, configuration, counters, log lines. It may close the
 * client. */
void datagram_client_check(struct datagram_client *c, co_usec now);

#endif
