/* SPDX-License-Identifier: MIT */
/* refusals.h - what was refused because of a limit, by kind: counted for the API and the metrics,
 * and told to the log once in a while, however many there are.
 */
#ifndef SESSION_REFUSALS_H
#define SESSION_REFUSALS_H

#include "co/co.h"

#include <stdatomic.h>

enum refusal {
    REFUSAL_CONNECTIONS,  /* max_connections */
    REFUSAL_PER_ADDRESS,
    REFUSAL_CONNECT_RATE,
    REFUSAL_VHOST_IN,     /* a publisher: the vhost takes in too much */
    REFUSAL_VHOST_OUT,    /* a player: the vhost sends too much */
    REFUSAL_DVR_DISK,     /* to write, for the quota or for the disk's last bytes */
    REFUSAL_HLS_DISK,
    REFUSAL_MEMORY,       /* the system has no more */
    REFUSAL_KINDS,
};

/* What the log was told. Starts as zeros; any thread. */
struct refusals_told {
    struct {
        atomic_uint untold;
        atomic_llong at; /* co_usec; 0: never */
    } v[REFUSAL_KINDS];
};

/* Starts as zeros; the server's. */
struct refusals {
    struct {
        uint64_t total;
    } v[REFUSAL_KINDS];
    struct refusals_told own, *all; /* all workers', in place of its own; NULL: it is alone */
};

const char *refusal_name(enum refusal kind); /* "per_address" */

/* Count one. How many there were since the log was told last, at all workers and this one included,
 * if it is to be told now; else 0. */
unsigned refusals_add(struct refusals *r, enum refusal kind, co_usec now);

#endif
