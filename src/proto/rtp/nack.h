/* SPDX-License-Identifier: MIT */
/* nack.h - which packets of a source are missing, and when to request their retransmission.
 *
 * A missing packet may only be late. So it is requested after a short delay, then once per round
 * trip, and finally given up. If too many are missing, requests would make it worse, and the caller
 * must request a key frame.
 *
 *     if (!rtp_nack_put(&n, seq, now)) ...                     request a key frame
 *     count = rtp_nack_request(&n, now, rtt, seqs, room);      at rtp_nack_due()
 */
#ifndef PROTO_RTP_NACK_H
#define PROTO_RTP_NACK_H

#include "co/co.h"

#include <stdbool.h>
#include <stdint.h>

enum { RTP_NACK_GAP = 250, RTP_NACK_HOLES = 512, RTP_NACK_TRIES = 15 };

#define RTP_NACK_GRACE CO_MS(10) /* delay before the first request, because packets can be
                                  * reordered */
#define RTP_NACK_AGAIN CO_MS(20) /* minimum time between two requests */
#define RTP_NACK_GIVE_UP CO_SECONDS(1)

struct rtp_hole;

struct rtp_nack { /* starts zeroed */
    bool started;
    int64_t next;       /* highest sequence number received, plus 1 */
    unsigned n;
    struct rtp_hole *holes; /* missing packets, in order; NULL until there was one */
    uint64_t requested;     /* requests for packets, including repeated ones */
    uint64_t recovered;     /* requested packets that arrived */
    uint64_t given_up;
    co_usec recovery_time;  /* time from a single request to the arrival; 0: unknown */
};

void rtp_nack_fini(struct rtp_nack *n);
/* Starts over: the numbering restarts, or the missing packets are no longer needed. */
void rtp_nack_restart(struct rtp_nack *n);
/* Handles a received packet with its sequence number without wrap. Returns false for a gap of more
 * than RTP_NACK_GAP packets, which are not requested. */
bool rtp_nack_put(struct rtp_nack *n, int64_t seq, co_usec now);
/* Returns the packets to request now, in order. Drops those that were requested often enough. */
unsigned rtp_nack_request(struct rtp_nack *n, co_usec now, co_usec rtt, uint16_t *seqs,
                          unsigned room);
/* Returns when to call that next; CO_FOREVER if nothing is missing. */
co_usec rtp_nack_due(const struct rtp_nack *n, co_usec rtt);

#endif
