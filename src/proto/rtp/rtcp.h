/* SPDX-License-Identifier: MIT */
/* rtcp.h - RTCP, [RFC 3550] section 6: compound packets read and written.
 *
 *     rtcp_begin(&r, data, size);
 *     while (rtcp_next(&r, &p))
 *         switch (p.type) { case RTCP_SR: p.sr ...; while (rtcp_next_block(&p, &b)) ... }
 *
 * What is read points into what came. Compounds need not begin with a report ([RFC 5506]); of one
 * that is cut, what is whole is read.
 */
#ifndef PROTO_RTP_RTCP_H
#define PROTO_RTP_RTCP_H

#include "base/rd.h"
#include "base/wr.h"

enum rtcp_type {
    RTCP_SR = 200, RTCP_RR = 201, RTCP_SDES = 202, RTCP_BYE = 203, RTCP_APP = 204,
    RTCP_RTPFB = 205, RTCP_PSFB = 206, RTCP_XR = 207,
};

enum { RTCP_PACKETS_MAX = 64 }; /* of a compound that are read */

/* What a receiver says of one source, 6.4.1. */
struct rtcp_block {
    uint32_t ssrc;
    uint8_t fraction;  /* lost since the last report, of 256 */
    int32_t lost;      /* in all; less than 0: more came than were sent */
    uint32_t highest;  /* sequence number, and how often it wrapped above it */
    uint32_t jitter;   /* in ticks of the source's clock */
    uint32_t last_sr;  /* middle 32 bits of the NTP time in its last sender report; 0: none */
    uint32_t delay;    /* since that one came, in 1/65536 s */
};

/* What a sender says of itself, 6.4.1: "that timestamp was at that time". */
struct rtcp_sr {
    uint64_t ntp;      /* 1/2^32 s since 1900 */
    uint32_t time;     /* the same in its own clock */
    uint32_t packets, bytes;
};

struct rtcp_packet {
    uint8_t type;      /* enum rtcp_type, or another */
    uint8_t count;     /* of blocks, sources, or a subtype */
    uint32_t ssrc;     /* who says it; of an SDES and a BYE their first source; 0: none */
    struct rtcp_sr sr; /* RTCP_SR only */
    struct rd rest;    /* what is behind those: nothing has looked at it */
};

struct rtcp_reader {
    struct rd r;
    unsigned packets;
};

void rtcp_begin(struct rtcp_reader *r, const uint8_t *data, size_t size);
/* False: no more, or what comes is none (then r->r.bad). */
bool rtcp_next(struct rtcp_reader *r, struct rtcp_packet *p);
/* The blocks of an SR or RR, one after the other. */
bool rtcp_next_block(struct rtcp_packet *p, struct rtcp_block *b);
/* The further sources of a BYE, which has p->ssrc first. */
bool rtcp_next_source(struct rtcp_packet *p, uint32_t *ssrc);
/* The CNAME of the first source of an SDES, *size bytes; NULL: it has none. */
const char *rtcp_cname(const struct rtcp_packet *p, size_t *size);

/* What a packet begins with: `words` follow it. */
void rtcp_put_head(struct wr *w, unsigned count, enum rtcp_type type, size_t words);

/* A whole compound is these, a report first; the writer's limit is the limit. */
void rtcp_put_sr(struct wr *w, uint32_t ssrc, const struct rtcp_sr *sr);
void rtcp_put_rr(struct wr *w, uint32_t ssrc, const struct rtcp_block *b, unsigned n); /* <= 31 */
void rtcp_put_cname(struct wr *w, uint32_t ssrc, const char *cname); /* 255 bytes of it at most */
void rtcp_put_bye(struct wr *w, uint32_t ssrc);

/* Microseconds since 1970 as NTP has it. */
uint64_t rtcp_ntp(int64_t unix_us);
/* Microseconds since 1970, of which an NTP time says 136 years. */
int64_t rtcp_unix_us(uint64_t ntp);

#endif
