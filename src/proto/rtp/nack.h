/* SPDX-License-Identifier: MIT */
/* nack.h - which packets of a source are missing, and when to ask for them again.
 *
 * What is missing may only be late: so it is asked for after a while, then once per round trip, and
 * given up at last. Where too many are missing asking for them would make it worse: a key frame
 * is to be asked for then.
 *
 *     if (!rtp_nack_put(&n, seq, now)) ...                 a key frame, please
 *     count = rtp_nack_request(&n, now, rtt, seqs, room);      at rtp_nack_due()
 */
#ifndef PROTO_RTP_NACK_H
#define PROTO_RTP_NACK_H

#include "co/co.h"

#include <stdbool.h>
#include <stdint.h>

enum { RTP_NACK_GAP = 250, RTP_NACK_HOLES = 512, RTP_NACK_TRIES = 15 };

#define RTP_NACK_GRACE CO_MS(10) /* packets change places */
#define RTP_NACK_AGAIN CO_MS(20) /* at least, between two tries */
#define RTP_NACK_GIVE_UP CO_SECONDS(1)

struct rtp_hole;

struct rtp_nack { /* zeroed it has begun */
    bool started;
    int64_t next;       /* after the highest that came */
    unsigned n;
    struct rtp_hole *holes; /* in order; NULL until there was one */
    uint64_t asked;     /* packets, each time */
    uint64_t found;     /* that were asked for and came */
    uint64_t given_up;
    co_usec took;       /* the last one that was asked for, once, until it came; 0: not known */
};

void rtp_nack_fini(struct rtp_nack *n);
/* Numbers begin anew, or what is missing is of no use any more. */
void rtp_nack_restart(struct rtp_nack *n);
/* A packet came, its number without wrap. False: a gap of more than RTP_NACK_GAP, of which none is
 * asked for. */
bool rtp_nack_put(struct rtp_nack *n, int64_t seq, co_usec now);
/* Those that it is time to ask for, in order. What has been tried enough is forgotten. */
unsigned rtp_nack_request(struct rtp_nack *n, co_usec now, co_usec rtt, uint16_t *seqs,
                          unsigned room);
/* When to call that next; CO_FOREVER: nothing is missing. */
co_usec rtp_nack_due(const struct rtp_nack *n, co_usec rtt);

#endif
