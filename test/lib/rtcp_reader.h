/* SPDX-License-Identifier: MIT */
/* rtcp_reader.h - reads feedback that the server only writes: FIR, REMB, and times of packets. */
#ifndef LIB_RTCP_READER_H
#define LIB_RTCP_READER_H

#include "proto/rtp/feedback.h"

/* The source whose key frame is requested; the same number again is the same request. */
bool rtcp_next_fir(struct rtcp_feedback *f, uint32_t *ssrc, uint8_t *number);
/* Bits per second. False: it does not fit. */
bool rtcp_remb(const struct rtcp_feedback *f, uint64_t *bps);

struct rtcp_twcc {
    uint16_t base, count; /* number of the first packet, and number of packets */
    int32_t reference;    /* units of 64 ms, signed, 24 bits */
    uint8_t number;       /* feedback packet count */
    /* ours */
    unsigned told, in_chunk;
    uint16_t chunk;
    int64_t at;
    struct rd chunks, deltas;
};
/* False: it does not fit. */
bool rtcp_twcc_begin(struct rtcp_twcc *t, const struct rtcp_feedback *f);
/* Returns for each packet in turn whether it arrived, and when by the receiver's clock, microseconds from an
 * origin that wraps after 12 days. False: no more, or its time is truncated. */
bool rtcp_twcc_next(struct rtcp_twcc *t, uint16_t *seq, bool *came, int64_t *at);

#endif
