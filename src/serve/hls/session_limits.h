/* SPDX-License-Identifier: MIT */
/* session_limits.h - limits on the number of HLS and DASH sessions, in total and per address, and
 * the order of eviction.
 *
 * One request from an untrusted client creates a session that lives for minutes. So each address
 * has a limit, and the oldest session that has not fetched a segment is evicted for a new one;
 * sessions in use stay. At most a fiftieth of the limit, but at least 1,000 sessions, may be
 * without a segment. A player whose session was evicted gets it back with its next request, by the
 * key in its URL. The limits apply to the whole process, across workers.
 */
#ifndef SERVE_HLS_SESSION_LIMITS_H
#define SERVE_HLS_SESSION_LIMITS_H

#include "base/ip.h"
#include "session/env.h"
#include "session/address_limits.h"

struct hls_session_limits; /* one per worker */

/* Part of a session, zeroed. */
struct hls_session_slot {
    struct address_slot peer;          /* per-address slot, shared by all workers */
    uint8_t address[IP_SIZE];          /* its address */
    bool unused;
    struct hls_session_slot *older, *newer; /* list of the unused ones */
};

struct hls_session_limits *hls_session_limits_new(void);
void hls_session_limits_free(struct hls_session_limits *r); /* all slots must have been left */

/* Takes a slot for a session of that address. ERR_TOO_MANY: evict the oldest unused session first
 * (hls_session_limits_oldest()), one of this address if *own. */
err_t hls_session_limits_enter(struct hls_session_limits *r, struct hls_session_slot *p,
                               const struct session_env *env, const char *ip, bool *own)
    __attribute__((warn_unused_result));
void hls_session_limits_leave(struct hls_session_limits *r, struct hls_session_slot *p);
/* The session fetched a segment. */
void hls_session_limits_used(struct hls_session_limits *r, struct hls_session_slot *p);
static inline bool hls_session_limits_is_used(const struct hls_session_slot *p)
{
    return !p->unused;
}

/* The oldest unused session of this worker, of that address (NULL: any address), and the next newer
 * one; NULL: none. */
struct hls_session_slot *hls_session_limits_oldest(const struct hls_session_limits *r,
                                                   const char *ip);
struct hls_session_slot *hls_session_limits_next(const struct hls_session_slot *p, const char *ip);

#endif
