/* SPDX-License-Identifier: MIT */
/* feedback.h - RTCP that receivers say soon: what is missing, that a key frame is wanted, when
 * packets came; and extended reports, by which a receiver learns the round trip.
 *
 * [RFC 4585] generic NACK and PLI, [RFC 5104] FIR, [REMB] draft-alvestrand-rmcat-remb-03, [TWCC]
 * draft-holmer-rmcat-transport-wide-cc-extensions-01, [RFC 3611] RRTR and DLRR.
 *
 *     while (rtcp_next(&r, &p))
 *         if (rtcp_feedback(&p, &f))
 *             switch (f.kind) { case RTCP_NACK: while (rtcp_next_nack(&f, &seq, &more)) ... }
 *
 * What is read points into what came. What is cut in the middle is read as far as it is whole.
 */
#ifndef PROTO_RTP_FEEDBACK_H
#define PROTO_RTP_FEEDBACK_H

#include "co/co.h"
#include "proto/rtp/rtcp.h"

enum rtcp_feedback_kind { RTCP_NACK, RTCP_PLI, RTCP_FIR, RTCP_REMB, RTCP_TWCC };

struct rtcp_feedback {
    enum rtcp_feedback_kind kind;
    uint32_t media; /* whose packets it is about; 0 where the body says it */
    struct rd rest;
};

/* False: it is no feedback, or none of those. */
bool rtcp_feedback(const struct rtcp_packet *p, struct rtcp_feedback *f);

/* A packet that is missing, and which of the 16 after it: bit 0 is the next one. */
bool rtcp_next_nack(struct rtcp_feedback *f, uint16_t *seq, uint16_t *more);
enum { RTCP_TWCC_TICK = 250, RTCP_TWCC_REFERENCE = 64000 }; /* microseconds */

/* An extended report says what the clock of its sender is. False: that is not in it. */
bool rtcp_rrtr(const struct rtcp_packet *p, uint64_t *ntp);
/* The answer to such a one of `ssrc`: as in struct rtcp_block. */
bool rtcp_dlrr(const struct rtcp_packet *p, uint32_t ssrc, uint32_t *last_rr, uint32_t *delay);
/* From a report's echo to the round trip; 0: it cannot be told. */
co_usec rtcp_round_trip(int64_t unix_us, uint32_t last, uint32_t delay);

/* ---- what is written: a packet of a compound each */

/* Numbers in rising order, of which those that are near each other share a word. */
void rtcp_put_nack(struct wr *w, uint32_t ssrc, uint32_t media, const uint16_t *seqs, unsigned n);
void rtcp_put_pli(struct wr *w, uint32_t ssrc, uint32_t media);
void rtcp_put_fir(struct wr *w, uint32_t ssrc, uint32_t media, uint8_t number);
void rtcp_put_remb(struct wr *w, uint32_t ssrc, uint64_t bps, const uint32_t *media, unsigned n);
void rtcp_put_rrtr(struct wr *w, uint32_t ssrc, uint64_t ntp);
void rtcp_put_dlrr(struct wr *w, uint32_t ssrc, uint32_t of, uint32_t last_rr, uint32_t delay);

#endif
