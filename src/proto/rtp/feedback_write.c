/* SPDX-License-Identifier: MIT */
/* feedback_write.c - NACK, PLI, FIR, REMB and extended reports that we say. */
#include "proto/rtp/feedback.h"

enum {
    VERSION = 2, NACK = 1, PLI = 1, FIR = 4, APPLICATION = 15, RRTR = 4, DLRR = 5,
    NEAR = 16, /* numbers behind one that share its word */
    NACKS_MAX = 250, REMB_SOURCES_MAX = 255, MANTISSA = 0x3ffff,
};

static void head(struct wr *w, unsigned format, enum rtcp_type type, size_t words)
{
    wr_u8(w, (uint8_t)(VERSION << 6 | format));
    wr_u8(w, (uint8_t)type);
    wr_u16(w, (uint16_t)words);
}

/* How many of them fit into the word of the first, and its bits. */
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
    head(w, NACK, RTCP_RTPFB, 2 + words);
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
    head(w, PLI, RTCP_PSFB, 2);
    wr_u32(w, ssrc);
    wr_u32(w, media);
}

/* [RFC 5104] 4.3.1.2: whose it is, is in the body. */
void rtcp_put_fir(struct wr *w, uint32_t ssrc, uint32_t media, uint8_t number)
{
    head(w, FIR, RTCP_PSFB, 4);
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
    head(w, APPLICATION, RTCP_PSFB, 4 + (size_t)n);
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
    head(w, 0, RTCP_XR, 4);
    wr_u32(w, ssrc);
    wr_u8(w, RRTR);
    wr_u8(w, 0);
    wr_u16(w, 2);
    wr_be(w, ntp, 8);
}

/* 4.5 */
void rtcp_put_dlrr(struct wr *w, uint32_t ssrc, uint32_t of, uint32_t last_rr, uint32_t delay)
{
    head(w, 0, RTCP_XR, 5);
    wr_u32(w, ssrc);
    wr_u8(w, DLRR);
    wr_u8(w, 0);
    wr_u16(w, 3);
    wr_u32(w, of);
    wr_u32(w, last_rr);
    wr_u32(w, delay);
}
