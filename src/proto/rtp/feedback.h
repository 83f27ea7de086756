/* SPDX-License-Identifier: MIT */
/* feedback.h - RTCP feedback of receivers: lost packets, key frame requests, arrival times; and
 * extended reports, which measure the receiver's round trip time.
 *
 * [RFC 4585] generic NACK and PLI, [RFC 5104] FIR, [REMB] draft-alvestrand-rmcat-remb-03, [TWCC]
 * draft-holmer-rmcat-transport-wide-cc-extensions-01, [RFC 3611] RRTR and DLRR.
 *
 *     while (rtcp_next(&r, &p))
 *         if (rtcp_feedback(&p, &f))
 *             switch (f.kind) { case RTCP_NACK: while (rtcp_next_nack(&f, &seq, &more)) ... }
 *
 * Results point into the received packet. A truncated packet is read up to the cut.
 */
#ifndef PROTO_RTP_FEEDBACK_H
#define PROTO_RTP_FEEDBACK_H

#include "co/co.h"
#include "proto/rtp/rtcp.h"

enum rtcp_feedback_kind { RTCP_NACK, RTCP_PLI, RTCP_FIR, RTCP_REMB, RTCP_TWCC };

struct rtcp_feedback {
    enum rtcp_feedback_kind kind;
    uint32_t media; /* SSRC of the packets concerned; 0 if the body has it */
    struct rd rest;
};

/* Returns false if the packet is not feedback of one of these kinds. */
bool rtcp_feedback(const struct rtcp_packet *p, struct rtcp_feedback *f);

/* Returns a lost packet, and which of the 16 after it are lost: bit 0 is the next one. */
bool rtcp_next_nack(struct rtcp_feedback *f, uint16_t *seq, uint16_t *more);
enum { RTCP_TWCC_TICK = 250, RTCP_TWCC_REFERENCE = 64000 }; /* microseconds */

/* Returns the sender's clock from an extended report. Returns false if the report lacks it. */
bool rtcp_rrtr(const struct rtcp_packet *p, uint64_t *ntp);
/* Returns the response to such a report by `ssrc`, as in struct rtcp_block. */
bool rtcp_dlrr(const struct rtcp_packet *p, uint32_t ssrc, uint32_t *last_rr, uint32_t *delay);
/* Computes the round trip time from a report's echo; 0 if unknown. */
co_usec rtcp_round_trip(int64_t unix_us, uint32_t last, uint32_t delay);

/* ---- writing: each function appends one packet of a compound */

/* The numbers must be ascending; nearby ones share a word. */
void rtcp_put_nack(struct wr *w, uint32_t ssrc, uint32_t media, const uint16_t *seqs, unsigned n);
void rtcp_put_pli(struct wr *w, uint32_t ssrc, uint32_t media);
void rtcp_put_fir(struct wr *w, uint32_t ssrc, uint32_t media, uint8_t number);
void rtcp_put_remb(struct wr *w, uint32_t ssrc, uint64_t bps, const uint32_t *media, unsigned n);
void rtcp_put_rrtr(struct wr *w, uint32_t ssrc, uint64_t ntp);
void rtcp_put_dlrr(struct wr *w, uint32_t ssrc, uint32_t of, uint32_t last_rr, uint32_t delay);

#endif
