/* SPDX-License-Identifier: MIT */
/* twcc.h - feedback for the congestion control of who sends, [TWCC]
 * draft-holmer-rmcat-transport-wide-cc-extensions-01: when each of its packets came, over all of
 * its tracks.
 *
 *     rtp_twcc_put(&t, number, now);                         each packet that has such a number
 *     while (rtp_twcc_write(&t, &w, ssrc, media, now)) ...   at rtp_twcc_due(), and when it says so
 */
#ifndef PROTO_RTP_TWCC_H
#define PROTO_RTP_TWCC_H

#include "base/wr.h"
#include "co/co.h"

enum { RTP_TWCC_KEPT = 1024, RTP_TWCC_TOLD = 400, RTP_TWCC_EACH = 50, RTP_TWCC_SIZE = 960 };

#define RTP_TWCC_PERIOD CO_MS(100)

struct rtp_twcc { /* zeroed it has begun */
    bool started;
    int64_t base;     /* the first that is to be told about */
    int64_t next;     /* after the highest that came */
    unsigned fresh;   /* packets that came and are not told about yet */
    co_usec told_at, origin;
    uint8_t number;   /* of the next feedback */
    co_usec *came;    /* by number; 0: not; NULL: none did so far */
};

void rtp_twcc_fini(struct rtp_twcc *t);
/* True: so many came that it is time to tell. */
bool rtp_twcc_put(struct rtp_twcc *t, uint16_t seq, co_usec now);
/* CO_FOREVER: nothing is to be told. */
co_usec rtp_twcc_due(const struct rtp_twcc *t);
/* A packet of RTCP, at most RTP_TWCC_SIZE bytes, of what came since the last one; false: nothing
 * did. There may be more of it. */
bool rtp_twcc_write(struct rtp_twcc *t, struct wr *w, uint32_t ssrc, uint32_t media, co_usec now);

#endif
