/* SPDX-License-Identifier: MIT */
/* reject_counters.h - counts clients and writes that limits refused, by reason, for the API and the
 * metrics, and limits their log lines.
 */
#ifndef SESSION_REJECT_COUNTERS_H
#define SESSION_REJECT_COUNTERS_H

#include "co/co.h"

#include <stdatomic.h>

enum reject_reason {
    REJECT_CONNECTIONS,  /* max_connections */
    REJECT_PER_ADDRESS,
    REJECT_CONNECT_RATE,
    REJECT_VHOST_IN,     /* a publisher: the vhost receives too much */
    REJECT_VHOST_OUT,    /* a player: the vhost sends too much */
    REJECT_DVR_DISK,     /* a write: quota or free space of the disk */
    REJECT_HLS_DISK,
    REJECT_MEMORY,       /* the system is out of memory */
    REJECT_KINDS,
};

/* Refusals that were logged. Initially zero; any thread. */
struct reject_counters_logged {
    struct {
        atomic_uint untold;
        atomic_llong at; /* co_usec; 0: never */
    } v[REJECT_KINDS];
};

/* Initially zero; part of the server. */
struct reject_counters {
    struct {
        uint64_t total;
    } v[REJECT_KINDS];
    /* `all` is shared by all workers and replaces `own`; NULL: one worker */
    struct reject_counters_logged own, *all;
};

const char *reject_reason_name(enum reject_reason kind); /* "per_address" */

/* Counts a refusal. Returns how many to log now (since the last log line, on all workers), or 0. */
unsigned reject_counters_add(struct reject_counters *r, enum reject_reason kind, co_usec now);

#endif
