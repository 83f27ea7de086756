/* SPDX-License-Identifier: MIT */
/* congestion.h - how much a session may have in flight, and when what is in flight is lost.
 *
 * RFC 7016, section 3.5.2 (round trip times, bursts), 3.6.2.5 (timeouts), Appendix A.2 (the
 * congestion window). Times are co_usec, sizes bytes of payload of user data.
 */
#ifndef PROTO_RTMFP_CONGESTION_H
#define PROTO_RTMFP_CONGESTION_H

#include "co/co.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    RTMFP_CWND_INIT = 4380,
    RTMFP_CWND_LIVE = 4 * RTMFP_CWND_INIT, /* ours: what is real-time gives way no further */
    RTMFP_CWND_MAX = 4 << 20,  /* ours: no session has more in flight */
    RTMFP_BURST = 6,           /* packets of user data between acks or timeouts, 3.5.2.3 */
    RTMFP_SEGMENT = 1140,      /* of user data in a packet, about */
};

struct rtmfp_congestion {
    uint32_t cwnd, threshold, acked; /* acked: towards the next growth */
    uint32_t in_flight;
    uint8_t burst;             /* packets of user data since an ack or a timeout */
    bool critical;             /* what is sent is real-time: it gives way less, and grows less */
    bool has_rtt;
    uint8_t probes;            /* since an ack or a timeout */
    bool probing;              /* one packet goes whatever is in flight */
    uint32_t srtt, rttvar;     /* microseconds */
    co_usec erto;              /* effective retransmission timeout */
    co_usec sent_at;           /* the last packet of user data */
    co_usec gave_way_at;
};

void rtmfp_congestion_init(struct rtmfp_congestion *c);
void rtmfp_congestion_rtt(struct rtmfp_congestion *c, co_usec rtt);
/* May one more packet of user data go out? */
static inline bool rtmfp_congestion_open(const struct rtmfp_congestion *c)
{
    return (c->in_flight < c->cwnd || c->probing) && c->burst < RTMFP_BURST;
}
/* One packet of user data, which is in in_flight already. */
void rtmfp_congestion_sent(struct rtmfp_congestion *c, co_usec now);
/* Of one packet with acks: what they freed (in_flight is without it already), what was in flight
 * before it, and whether they showed losses, or gaps that may become some. */
struct rtmfp_heard {
    uint32_t acked, before;
    bool any, lost, gaps;
};
void rtmfp_congestion_heard(struct rtmfp_congestion *c, const struct rtmfp_heard *h, co_usec now);
/* When what is in flight, or the acks of it, may be lost; CO_FOREVER: nothing is in flight. */
co_usec rtmfp_congestion_deadline(const struct rtmfp_congestion *c);
/* It was reached. True: only the peer's answer is late, by what it is asked once more: one packet
 * may go, and the oldest fragment in flight is to be in it. Else all that is in flight is lost, and
 * rtmfp_congestion_timeout() is to be called. */
bool rtmfp_congestion_probe(struct rtmfp_congestion *c, co_usec now);
/* in_flight is for the caller to take back. */
void rtmfp_congestion_timeout(struct rtmfp_congestion *c, co_usec now);

#endif
