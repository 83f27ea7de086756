/* SPDX-License-Identifier: MIT */
/* twcc.h - feedback for the sender's congestion control, [TWCC]
 * draft-holmer-rmcat-transport-wide-cc-extensions-01: arrival times of its packets, across all its
 * tracks.
 *
 *     rtp_twcc_put(&t, number, now);                         each packet that has such a number
 *     while (rtp_twcc_write(&t, &w, ssrc, media, now)) ...   at rtp_twcc_due(), or if put returns
 * true
 */
#ifndef PROTO_RTP_TWCC_H
#define PROTO_RTP_TWCC_H

#include "base/wr.h"
#include "co/co.h"

enum { RTP_TWCC_KEPT = 1024, RTP_TWCC_REPORTED = 400, RTP_TWCC_EACH = 50, RTP_TWCC_SIZE = 960 };

#define RTP_TWCC_PERIOD CO_MS(100)

struct rtp_twcc { /* starts zeroed */
    bool started;
    int64_t base;     /* first number to report */
    int64_t next;     /* highest number received, plus 1 */
    unsigned fresh;   /* received packets not reported yet */
    co_usec sent_at, origin;
    uint8_t number;   /* number of the next feedback packet */
    co_usec *arrivals;    /* arrival time by number; 0: not received; NULL: nothing received yet */
};

void rtp_twcc_fini(struct rtp_twcc *t);
/* Returns true if so many packets arrived that feedback is due. */
bool rtp_twcc_put(struct rtp_twcc *t, uint16_t seq, co_usec now);
/* Returns when feedback is due; CO_FOREVER if there is nothing to report. */
co_usec rtp_twcc_due(const struct rtp_twcc *t);
/* Writes an RTCP packet of at most RTP_TWCC_SIZE bytes about the packets since the last feedback.
 * Returns false if there were none. Call it again until then. */
bool rtp_twcc_write(struct rtp_twcc *t, struct wr *w, uint32_t ssrc, uint32_t media, co_usec now);

#endif
