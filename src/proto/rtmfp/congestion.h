/* SPDX-License-Identifier: MIT */
/* congestion.h - limits the bytes in flight of a session and detects timeouts.
 *
 * RFC 7016, section 3.5.2 (round trip times, bursts), 3.6.2.5 (timeouts), Appendix A.2 (the
 * congestion window). Times are co_usec, sizes are bytes of user data payload.
 */
#ifndef PROTO_RTMFP_CONGESTION_H
#define PROTO_RTMFP_CONGESTION_H

#include "co/co.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    RTMFP_CWND_INIT = 4380,
    RTMFP_CWND_LIVE = 4 * RTMFP_CWND_INIT, /* our addition: minimum for real-time data */
    RTMFP_CWND_MAX = 4 << 20,  /* our addition: limit for any session */
    RTMFP_BURST = 6,           /* packets of user data between acks or timeouts, 3.5.2.3 */
    RTMFP_SEGMENT = 1140,      /* approximate user data per packet */
};

struct rtmfp_congestion {
    uint32_t cwnd, threshold, acked; /* acked: bytes counted towards the next growth */
    uint32_t in_flight;
    uint8_t burst;             /* packets of user data since an ack or a timeout */
    bool critical;             /* sends real-time data: reduces less and grows less */
    bool has_rtt;
    uint8_t probes;            /* probes sent since an ack or a timeout */
    bool probing;              /* one packet may be sent regardless of in_flight */
    uint32_t srtt, rttvar;     /* microseconds */
    co_usec erto;              /* effective retransmission timeout */
    co_usec sent_at;           /* time of the last packet of user data */
    co_usec reduced_at;
};

void rtmfp_congestion_init(struct rtmfp_congestion *c);
void rtmfp_congestion_rtt(struct rtmfp_congestion *c, co_usec rtt);
/* Returns whether one more packet of user data may be sent. */
static inline bool rtmfp_congestion_open(const struct rtmfp_congestion *c)
{
    return (c->in_flight < c->cwnd || c->probing) && c->burst < RTMFP_BURST;
}
/* Records a packet of user data, whose bytes in_flight already includes. */
void rtmfp_congestion_sent(struct rtmfp_congestion *c, co_usec now);
/* Summary of the acks in one packet: bytes they freed (already subtracted from in_flight), bytes in
 * flight before, and whether they showed losses, or gaps that may become losses. */
struct rtmfp_ack_summary {
    uint32_t acked, before;
    bool any, lost, gaps;
};
void rtmfp_congestion_acked(struct rtmfp_congestion *c, const struct rtmfp_ack_summary *h,
                            co_usec now);
/* Returns when the data in flight, or their acks, count as lost; CO_FOREVER if nothing is in
 * flight. */
co_usec rtmfp_congestion_deadline(const struct rtmfp_congestion *c);
/* Called when the deadline is reached. Returns true if only the peer's response is late: one packet
 * may be sent as a probe and should contain the oldest fragment in flight. Otherwise all data in
 * flight are lost, and the caller must call rtmfp_congestion_timeout(). */
bool rtmfp_congestion_probe(struct rtmfp_congestion *c, co_usec now);
/* The caller resets in_flight. */
void rtmfp_congestion_timeout(struct rtmfp_congestion *c, co_usec now);

#endif
