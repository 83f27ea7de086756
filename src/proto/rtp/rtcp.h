/* SPDX-License-Identifier: MIT */
/* rtcp.h - reads and writes RTCP compound packets [RFC 3550] section 6.
 *
 *     rtcp_begin(&r, data, size);
 *     while (rtcp_next(&r, &p))
 *         switch (p.type) { case RTCP_SR: p.sr ...; while (rtcp_next_block(&p, &b)) ... }
 *
 * Results point into the received packet. A compound need not begin with a report ([RFC 5506]); a
 * truncated one is read up to the cut.
 */
#ifndef PROTO_RTP_RTCP_H
#define PROTO_RTP_RTCP_H

#include "base/rd.h"
#include "base/wr.h"

enum rtcp_type {
    RTCP_SR = 200, RTCP_RR = 201, RTCP_SDES = 202, RTCP_BYE = 203, RTCP_APP = 204,
    RTCP_RTPFB = 205, RTCP_PSFB = 206, RTCP_XR = 207,
};

enum { RTCP_PACKETS_MAX = 64 }; /* most packets of a compound that are read */

/* Report block about one source, 6.4.1. */
struct rtcp_block {
    uint32_t ssrc;
    uint8_t fraction;  /* packets lost since the last report, in 1/256 */
    int32_t lost;      /* packets lost in total; negative: duplicates exceed losses */
    uint32_t highest;  /* highest sequence number; the upper bits count its wraps */
    uint32_t jitter;   /* in ticks of the source's clock */
    uint32_t last_sr;  /* middle 32 bits of the NTP time in its last sender report; 0: none */
    uint32_t delay;    /* time since its arrival, in 1/65536 s */
};

/* Sender information, 6.4.1: this timestamp corresponds to this time. */
struct rtcp_sr {
    uint64_t ntp;      /* 1/2^32 s since 1900 */
    uint32_t time;     /* the same moment on its own clock */
    uint32_t packets, bytes;
};

struct rtcp_packet {
    uint8_t type;      /* enum rtcp_type, or any other value */
    uint8_t count;     /* number of blocks or sources, or a subtype */
    uint32_t ssrc;     /* sender of the packet; first source of an SDES or BYE; 0: none */
    struct rtcp_sr sr; /* RTCP_SR only */
    struct rd rest;    /* the rest of the packet, unread */
};

struct rtcp_reader {
    struct rd r;
    unsigned packets;
};

void rtcp_begin(struct rtcp_reader *r, const uint8_t *data, size_t size);
/* Returns false at the end, or at an invalid packet (then r->r.bad). */
bool rtcp_next(struct rtcp_reader *r, struct rtcp_packet *p);
/* Reads the blocks of an SR or RR, one by one. */
bool rtcp_next_block(struct rtcp_packet *p, struct rtcp_block *b);
/* Reads the further sources of a BYE; p->ssrc is the first. */
bool rtcp_next_source(struct rtcp_packet *p, uint32_t *ssrc);
/* Returns the CNAME of the first source of an SDES, *size bytes, or NULL. */
const char *rtcp_cname(const struct rtcp_packet *p, size_t *size);

/* Writes the head of a packet; `words` 32-bit words follow it. */
void rtcp_put_head(struct wr *w, unsigned count, enum rtcp_type type, size_t words);

/* A compound consists of these packets, starting with a report. The writer's limit applies. */
void rtcp_put_sr(struct wr *w, uint32_t ssrc, const struct rtcp_sr *sr);
void rtcp_put_rr(struct wr *w, uint32_t ssrc, const struct rtcp_block *b, unsigned n); /* n <= 31 */
void rtcp_put_cname(struct wr *w, uint32_t ssrc, const char *cname); /* truncated to 255 bytes */
void rtcp_put_bye(struct wr *w, uint32_t ssrc);

/* Converts microseconds since 1970 to NTP time. */
uint64_t rtcp_ntp(int64_t unix_us);
/* Converts NTP time, which covers 136 years, to microseconds since 1970. */
int64_t rtcp_unix_us(uint64_t ntp);

#endif
