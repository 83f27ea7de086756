/* SPDX-License-Identifier: MIT */
/* bandwidth.h - how much a vhost and each of its connections may send and take in.
 *
 * All of it is off by default and costs nothing then. Nothing is done per message: the kernel paces
 * what is sent, a publisher is looked at once a read, and a vhost's sums are taken when somebody
 * wants to join.
 */
#ifndef SESSION_BANDWIDTH_H
#define SESSION_BANDWIDTH_H

#include "co/net/io.h"
#include "session/env.h"

/* Send no faster than that, 0: as fast as it goes. */
void session_pace(struct io *io, int kbps);

/* How far a publisher is ahead of what it may send. Starts as zeros. */
struct serve_meter {
    uint64_t bytes; /* of its connection, at the last look */
    co_usec at;
    int64_t ahead;  /* bits times 1000 */
};
/* How long not to read, so that it comes down to `kbps`; what comes within some seconds is taken
 * at once. `bytes` is the total so far. */
co_usec session_meter_wait(struct serve_meter *m, uint64_t bytes, int kbps, co_usec now);

/* Is there room in the vhost for one more publisher, or for a player of that stream? What all
 * workers send and take in counts. ERR_TOO_MANY; it was counted and told to the log. */
err_t session_room_in(struct session_env *env, const struct conf_vhost *vhost)
    __attribute__((warn_unused_result));
err_t session_room_out(struct session_env *env, const struct conf_vhost *vhost,
                       const struct session_stream *names) __attribute__((warn_unused_result));

/* Has some vhost such a bound? Then its figures are taken once a second, and told to the others. */
bool session_bandwidth_is_limited(const struct conf *c);
/* What this worker sends and takes in, to the others. */
void session_bandwidth_report(const struct session_env *env);

#endif
