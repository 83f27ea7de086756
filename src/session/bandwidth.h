/* SPDX-License-Identifier: MIT */
/* bandwidth.h - bandwidth limits of vhosts and of their connections.
 *
 * They are off by default and cost nothing then. There is no work per message: the kernel paces
 * sending, a publisher is checked once per read, and the sums of a vhost are computed when a client
 * joins.
 */
#ifndef SESSION_BANDWIDTH_H
#define SESSION_BANDWIDTH_H

#include "co/net/io.h"
#include "session/env.h"

/* Limits the sending rate; 0: no limit. */
void session_pace(struct io *io, int kbps);

/* How far a publisher is ahead of its allowed rate. Initially zero. */
struct session_meter {
    uint64_t bytes; /* received bytes at the last check */
    co_usec at;
    int64_t ahead;  /* thousandths of a bit */
};
/* Returns how long not to read, so that the rate falls to `kbps`; bursts of some seconds are
 * allowed. `bytes` is the total so far. */
co_usec session_meter_wait(struct session_meter *m, uint64_t bytes, int kbps, co_usec now);

/* Checks whether the vhost has bandwidth left for another publisher, or for a player of that
 * stream, with the traffic of all workers. ERR_TOO_MANY: refused, counted and logged. */
err_t session_bandwidth_in(struct session_env *env, const struct conf_vhost *vhost)
    __attribute__((warn_unused_result));
err_t session_bandwidth_out(struct session_env *env, const struct conf_vhost *vhost,
                       const struct session_stream *names) __attribute__((warn_unused_result));

/* Returns true if any vhost has a limit: then rates are sampled and published once a second. */
bool session_bandwidth_is_limited(const struct conf *c);
/* Publishes this worker's rates to the others. */
void session_bandwidth_report(const struct session_env *env);

#endif
