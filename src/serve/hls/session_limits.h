/* SPDX-License-Identifier: MIT */
/* session_limits.h - how many sessions of HLS and DASH there may be, in all and from one address,
 * and which one goes when there are too many.
 *
 * A session costs a stranger one request and lives for minutes. So each address has a share of
 * them, and the oldest session that fetched no segment makes room for the next one: a session that
 * is used stays. Sessions that fetched no segment are at most a fiftieth of the limit, or 1,000 if
 * that is more. A player whose session had to go gets it back with its next request, by the key in
 * its URL. The limits are those of the process, whichever worker has the sessions.
 */
#ifndef SERVE_HLS_SESSION_LIMITS_H
#define SERVE_HLS_SESSION_LIMITS_H

#include "base/ip.h"
#include "session/env.h"
#include "session/address_limits.h"

struct hls_session_limits; /* of one worker */

/* In a session, zeroed. */
struct hls_session_slot {
    struct address_slot peer;          /* among all workers' */
    uint8_t of[IP_SIZE];              /* its address */
    bool unused;
    struct hls_session_slot *older, *newer; /* of the unused ones */
};

struct hls_session_limits *hls_session_limits_new(void);
void hls_session_limits_free(struct hls_session_limits *r); /* all places were left */

/* Take a place for a session of that address. ERR_TOO_MANY: the oldest unused one has to leave
 * first, see hls_session_limits_oldest(); of this address alone if *own. */
err_t hls_session_limits_enter(struct hls_session_limits *r, struct hls_session_slot *p,
                               const struct session_env *env, const char *ip, bool *own)
    __attribute__((warn_unused_result));
void hls_session_limits_leave(struct hls_session_limits *r, struct hls_session_slot *p);
/* It fetched a segment. */
void hls_session_limits_used(struct hls_session_limits *r, struct hls_session_slot *p);
static inline bool hls_session_limits_is_used(const struct hls_session_slot *p)
{
    return !p->unused;
}

/* The oldest unused one of this worker, of that address (NULL: of any), and the one that is next;
 * NULL: there is none. */
struct hls_session_slot *hls_session_limits_oldest(const struct hls_session_limits *r,
                                                   const char *ip);
struct hls_session_slot *hls_session_limits_next(const struct hls_session_slot *p, const char *ip);

#endif
