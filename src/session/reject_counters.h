/* SPDX-License-Identifier: MIT */
/* reject_counters.h - what was refused because of a limit, by kind: counted for the API and the
 * metrics, and told to the log once in a while, however many there are.
 */
#ifndef SESSION_REJECT_COUNTERS_H
#define SESSION_REJECT_COUNTERS_H

#include "co/co.h"

#include <stdatomic.h>

enum reject_reason {
    REJECT_CONNECTIONS,  /* max_connections */
    REJECT_PER_ADDRESS,
    REJECT_CONNECT_RATE,
    REJECT_VHOST_IN,     /* a publisher: the vhost takes in too much */
    REJECT_VHOST_OUT,    /* a player: the vhost sends too much */
    REJECT_DVR_DISK,     /* to write, for the quota or for the disk's last bytes */
    REJECT_HLS_DISK,
    REJECT_MEMORY,       /* the system has no more */
    REJECT_KINDS,
};

/* What the log was told. Starts as zeros; any thread. */
struct reject_counters_told {
    struct {
        atomic_uint untold;
        atomic_llong at; /* co_usec; 0: never */
    } v[REJECT_KINDS];
};

/* Starts as zeros; the server's. */
struct reject_counters {
    struct {
        uint64_t total;
    } v[REJECT_KINDS];
    /* all workers', in place of its own; NULL: it is alone */
    struct reject_counters_told own, *all;
};

const char *reject_reason_name(enum reject_reason kind); /* "per_address" */

/* Count one. How many there were since the log was told last, at all workers and this one included,
 * if it is to be told now; else 0. */
unsigned reject_counters_add(struct reject_counters *r, enum reject_reason kind, co_usec now);

#endif
