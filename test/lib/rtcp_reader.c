/* SPDX-License-Identifier: MIT */
/* rtcp_reader.c - reads FIR, REMB, and feedback of congestion control, [TWCC] 3.1: chunks of
 * statuses, then the times of the packets that arrived. */
#include "rtcp_reader.h"

/* [RFC 5104] 4.3.1 */
bool rtcp_next_fir(struct rtcp_feedback *f, uint32_t *ssrc, uint8_t *number)
{
    if (f->kind != RTCP_FIR || rd_left(&f->rest) < 8)
        return false;
    *ssrc = rd_u32(&f->rest);
    *number = rd_u8(&f->rest);
    (void)rd_u24(&f->rest);
    return true;
}

/* [REMB] 2.2: "REMB", number of sources, 6 bits of exponent, 18 of mantissa. */
bool rtcp_remb(const struct rtcp_feedback *f, uint64_t *bps)
{
    struct rd r = f->rest;
    uint32_t name = rd_u32(&r), word = rd_u32(&r);
    unsigned shift = word >> 18 & 0x3f;
    uint64_t mantissa = word & 0x3ffff;

    if (f->kind != RTCP_REMB || r.bad || name != 0x52454d42)
        return false;
    *bps = shift > 46 ? UINT64_MAX : mantissa << shift; /* 18 bits and 46 are 64 */
    return true;
}

enum { MISSING, SMALL, LARGE }; /* the fourth is reserved */

/* Number of packets of a chunk: a run, 14 of one bit, or 7 of two. */
static unsigned chunk_length(uint16_t chunk)
{
    if (chunk >> 15 == 0)
        return chunk & 0x1fff;
    return chunk >> 14 & 1 ? 7 : 14;
}

static unsigned chunk_status(uint16_t chunk, unsigned i)
{
    if (chunk >> 15 == 0)
        return chunk >> 13 & 3;
    if (chunk >> 14 & 1)
        return chunk >> (12 - 2 * i) & 3;
    return chunk >> (13 - i) & 1;
}

/* Times begin where chunks end. */
static bool find_deltas(struct rtcp_twcc *t)
{
    struct rd r = t->chunks;
    unsigned n = 0;

    while (n < t->count) {
        unsigned more = chunk_length(rd_u16(&r));

        if (r.bad || more == 0)
            return false;
        n += more;
    }
    t->deltas = r;
    return true;
}

bool rtcp_twcc_begin(struct rtcp_twcc *t, const struct rtcp_feedback *f)
{
    struct rd r = f->rest;
    uint32_t reference;

    *t = (struct rtcp_twcc){ .base = rd_u16(&r) };
    t->count = rd_u16(&r);
    reference = rd_u24(&r);
    t->reference = (int32_t)(reference << 8) >> 8;
    t->number = rd_u8(&r);
    t->at = (int64_t)t->reference * RTCP_TWCC_REFERENCE;
    t->chunks = r;
    return f->kind == RTCP_TWCC && !r.bad && find_deltas(t);
}

static unsigned next_status(struct rtcp_twcc *t)
{
    if (t->in_chunk == 0 || t->in_chunk == chunk_length(t->chunk)) {
        t->chunk = rd_u16(&t->chunks);
        t->in_chunk = 0;
    }
    return chunk_status(t->chunk, t->in_chunk++);
}

bool rtcp_twcc_next(struct rtcp_twcc *t, uint16_t *seq, bool *came, int64_t *at)
{
    unsigned status;

    if (t->told == t->count)
        return false;
    status = next_status(t);
    *seq = (uint16_t)(t->base + t->told++);
    *came = status == SMALL || status == LARGE;
    if (status == SMALL)
        t->at += rd_u8(&t->deltas) * RTCP_TWCC_TICK;
    if (status == LARGE)
        t->at += (int16_t)rd_u16(&t->deltas) * RTCP_TWCC_TICK;
    *at = t->at;
    return !t->deltas.bad;
}
