/* SPDX-License-Identifier: MIT */
/* feedback.c - reads and writes RTCP feedback. */
#include "proto/rtp/feedback.h"

/* ---- reading NACK, PLI and extended reports, and detecting the other kinds */

enum { NACK = 1, TWCC = 15, PLI = 1, FIR = 4, APPLICATION = 15, RRTR = 4, DLRR = 5 };

/* [RFC 4585] 6.1: the type and the `count` field together give the kind. */
static bool kind_of(const struct rtcp_packet *p, enum rtcp_feedback_kind *kind)
{
    static const struct {
        uint8_t type, format, kind;
    } rows[] = {
        { RTCP_RTPFB, NACK, RTCP_NACK }, { RTCP_RTPFB, TWCC, RTCP_TWCC },
        { RTCP_PSFB, PLI, RTCP_PLI },    { RTCP_PSFB, FIR, RTCP_FIR },
        { RTCP_PSFB, APPLICATION, RTCP_REMB },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        *kind = rows[i].kind;
        if (rows[i].type == p->type && rows[i].format == p->count)
            return true;
    }
    return false;
}

bool rtcp_feedback(const struct rtcp_packet *p, struct rtcp_feedback *f)
{
    if (!kind_of(p, &f->kind))
        return false;
    f->rest = p->rest;
    f->media = rd_u32(&f->rest);
    return !f->rest.bad;
}

/* 6.2.1 */
bool rtcp_next_nack(struct rtcp_feedback *f, uint16_t *seq, uint16_t *more)
{
    if (f->kind != RTCP_NACK || rd_left(&f->rest) < 4)
        return false;
    *seq = rd_u16(&f->rest);
    *more = rd_u16(&f->rest);
    return true;
}

/* [RFC 3611] 3: returns the next block and its content. */
static bool next_xr(struct rd *r, uint8_t *type, struct rd *block)
{
    if (rd_left(r) < 4)
        return false;
    *type = rd_u8(r);
    (void)rd_u8(r);
    *block = rd_sub(r, rd_u16(r) * (size_t)4);
    return !r->bad;
}

bool rtcp_rrtr(const struct rtcp_packet *p, uint64_t *ntp)
{
    struct rd r = p->rest, block;
    uint8_t type;

    while (p->type == RTCP_XR && next_xr(&r, &type, &block)) {
        if (type != RRTR || rd_left(&block) < 8)
            continue;
        *ntp = rd_u64(&block);
        return true;
    }
    return false;
}

bool rtcp_dlrr(const struct rtcp_packet *p, uint32_t ssrc, uint32_t *last_rr, uint32_t *delay)
{
    struct rd r = p->rest, block;
    uint8_t type;

    while (p->type == RTCP_XR && next_xr(&r, &type, &block)) {
        while (type == DLRR && rd_left(&block) >= 12) {
            uint32_t of = rd_u32(&block);

            *last_rr = rd_u32(&block);
            *delay = rd_u32(&block);
            if (of == ssrc)
                return true;
        }
    }
    return false;
}

/* [RFC 3550] 6.4.1: the middle bits of NTP time, 1/65536 s. */
co_usec rtcp_round_trip(int64_t unix_us, uint32_t last, uint32_t delay)
{
    int32_t units = (int32_t)((uint32_t)(rtcp_ntp(unix_us) >> 16) - last - delay);

    if (last == 0 || units < 0)
        return 0;
    return (int64_t)units * CO_SECONDS(1) >> 16;
}

/* ---- writing NACK, PLI, FIR, REMB and extended reports */

enum {
    NEAR = 16, /* numbers after the first one that share its word */
    NACKS_MAX = 250, REMB_SOURCES_MAX = 255, MANTISSA = 0x3ffff,
};

/* Returns how many numbers fit into the word of the first one, and its bits. */
static unsigned share(const uint16_t *seqs, unsigned n, uint16_t *bits)
{
    unsigned i = 1;

    *bits = 0;
    while (i < n) {
        uint16_t apart = (uint16_t)(seqs[i] - seqs[0]);

        if (apart == 0 || apart > NEAR)
            break;
        *bits |= (uint16_t)(1u << (apart - 1));
        i++;
    }
    return i;
}

void rtcp_put_nack(struct wr *w, uint32_t ssrc, uint32_t media, const uint16_t *seqs, unsigned n)
{
    unsigned words = 0;
    uint16_t bits;

    if (n > NACKS_MAX)
        n = NACKS_MAX;
    for (unsigned i = 0; i < n; i += share(seqs + i, n - i, &bits))
        words++;
    if (words == 0)
        return;
    rtcp_put_head(w, NACK, RTCP_RTPFB, 2 + words);
    wr_u32(w, ssrc);
    wr_u32(w, media);
    for (unsigned i = 0; i < n;) {
        unsigned taken = share(seqs + i, n - i, &bits);

        wr_u16(w, seqs[i]);
        wr_u16(w, bits);
        i += taken;
    }
}

void rtcp_put_pli(struct wr *w, uint32_t ssrc, uint32_t media)
{
    rtcp_put_head(w, PLI, RTCP_PSFB, 2);
    wr_u32(w, ssrc);
    wr_u32(w, media);
}

/* [RFC 5104] 4.3.1.2: the SSRC is in the body. */
void rtcp_put_fir(struct wr *w, uint32_t ssrc, uint32_t media, uint8_t number)
{
    rtcp_put_head(w, FIR, RTCP_PSFB, 4);
    wr_u32(w, ssrc);
    wr_u32(w, 0);
    wr_u32(w, media);
    wr_u32(w, (uint32_t)number << 24);
}

void rtcp_put_remb(struct wr *w, uint32_t ssrc, uint64_t bps, const uint32_t *media, unsigned n)
{
    unsigned shift = 0;

    if (n > REMB_SOURCES_MAX)
        n = REMB_SOURCES_MAX;
    while (bps >> shift > MANTISSA)
        shift++;
    rtcp_put_head(w, APPLICATION, RTCP_PSFB, 4 + (size_t)n);
    wr_u32(w, ssrc);
    wr_u32(w, 0);
    wr_bytes(w, "REMB", 4);
    wr_u32(w, n << 24 | shift << 18 | (uint32_t)(bps >> shift));
    for (unsigned i = 0; i < n; i++)
        wr_u32(w, media[i]);
}

/* [RFC 3611] 4.4 */
void rtcp_put_rrtr(struct wr *w, uint32_t ssrc, uint64_t ntp)
{
    rtcp_put_head(w, 0, RTCP_XR, 4);
    wr_u32(w, ssrc);
    wr_u8(w, RRTR);
    wr_u8(w, 0);
    wr_u16(w, 2);
    wr_be(w, ntp, 8);
}

/* 4.5 */
void rtcp_put_dlrr(struct wr *w, uint32_t ssrc, uint32_t of, uint32_t last_rr, uint32_t delay)
{
    rtcp_put_head(w, 0, RTCP_XR, 5);
    wr_u32(w, ssrc);
    wr_u8(w, DLRR);
    wr_u8(w, 0);
    wr_u16(w, 3);
    wr_u32(w, of);
    wr_u32(w, last_rr);
    wr_u32(w, delay);
}
