/* SPDX-License-Identifier: MIT */
/* rtcp.c - reads and writes RTCP compound packets [RFC 3550] section 6. */
#include "proto/rtp/rtcp.h"

#include "proto/rtp/header.h"

#include <string.h>

/* ---- reading, [RFC 3550] 6.4 to 6.7 and A.2 */

enum { VERSION = 2, PADDING = 0x20, BLOCK = 24, CNAME = 1 };

void rtcp_begin(struct rtcp_reader *r, const uint8_t *data, size_t size)
{
    *r = (struct rtcp_reader){ .r = rd_init(data, size) };
}

static void read_sr(struct rtcp_sr *sr, struct rd *r)
{
    sr->ntp = rd_u64(r);
    sr->time = rd_u32(r);
    sr->packets = rd_u32(r);
    sr->bytes = rd_u32(r);
}

/* Reads the fixed part of a packet. Returns false if it is too short. */
static bool read_head(struct rtcp_packet *p)
{
    struct rd *r = &p->rest;

    if ((p->type == RTCP_SDES || p->type == RTCP_BYE) && rd_left(r) < 4)
        return p->count == 0;
    p->ssrc = rd_u32(r);
    if (p->type == RTCP_SR)
        read_sr(&p->sr, r);
    if (p->type == RTCP_SR || p->type == RTCP_RR)
        return !r->bad && rd_left(r) >= (size_t)p->count * BLOCK;
    return !r->bad;
}

bool rtcp_next(struct rtcp_reader *r, struct rtcp_packet *p)
{
    uint8_t first;

    if (rd_left(&r->r) == 0 || r->r.bad || r->packets++ == RTCP_PACKETS_MAX)
        return false;
    first = rd_u8(&r->r);
    *p = (struct rtcp_packet){ .type = rd_u8(&r->r), .count = first & 0x1f };
    p->rest = rd_sub(&r->r, rd_u16(&r->r) * (size_t)4);
    if (r->r.bad || first >> 6 != VERSION || (first & PADDING && !rtp_cut_padding(&p->rest)) ||
        !read_head(p)) {
        r->r.bad = true;
        return false;
    }
    return true;
}

bool rtcp_next_block(struct rtcp_packet *p, struct rtcp_block *b)
{
    struct rd *r = &p->rest;
    uint32_t lost;

    if ((p->type != RTCP_SR && p->type != RTCP_RR) || p->count == 0)
        return false;
    p->count--;
    *b = (struct rtcp_block){ .ssrc = rd_u32(r), .fraction = rd_u8(r) };
    lost = rd_u24(r);
    b->lost = (int32_t)(lost << 8) >> 8;
    b->highest = rd_u32(r);
    b->jitter = rd_u32(r);
    b->last_sr = rd_u32(r);
    b->delay = rd_u32(r);
    return !r->bad;
}

bool rtcp_next_source(struct rtcp_packet *p, uint32_t *ssrc)
{
    if (p->type != RTCP_BYE || p->count <= 1)
        return false;
    p->count--;
    *ssrc = rd_u32(&p->rest);
    return !p->rest.bad;
}

/* 6.5: items consist of a type, a length and a text; type 0 ends the list. */
const char *rtcp_cname(const struct rtcp_packet *p, size_t *size)
{
    struct rd r = p->rest;

    while (p->type == RTCP_SDES && !r.bad) {
        uint8_t item = rd_u8(&r);
        size_t n = item ? rd_u8(&r) : 0;
        const uint8_t *text = rd_take(&r, n);

        if (item == 0 || !text)
            break;
        if (item == CNAME) {
            *size = n;
            return (const char *)text;
        }
    }
    return NULL;
}

/* ---- writing, [RFC 3550] 6.4 to 6.6 */

enum { BLOCKS_MAX = 31, TEXT_MAX = 255 };

/* [RFC 3550] section 4: seconds from 1900 to 1970. */
#define EPOCH UINT64_C(2208988800)

void rtcp_put_head(struct wr *w, unsigned count, enum rtcp_type type, size_t words)
{
    wr_u8(w, (uint8_t)(VERSION << 6 | count));
    wr_u8(w, (uint8_t)type);
    wr_u16(w, (uint16_t)words);
}

void rtcp_put_sr(struct wr *w, uint32_t ssrc, const struct rtcp_sr *sr)
{
    rtcp_put_head(w, 0, RTCP_SR, 6);
    wr_u32(w, ssrc);
    wr_be(w, sr->ntp, 8);
    wr_u32(w, sr->time);
    wr_u32(w, sr->packets);
    wr_u32(w, sr->bytes);
}

static uint32_t lost24(int32_t lost)
{
    if (lost > 0x7fffff)
        lost = 0x7fffff;
    if (lost < -0x800000)
        lost = -0x800000;
    return (uint32_t)lost & 0xffffff;
}

void rtcp_put_rr(struct wr *w, uint32_t ssrc, const struct rtcp_block *b, unsigned n)
{
    if (n > BLOCKS_MAX)
        n = BLOCKS_MAX;
    rtcp_put_head(w, n, RTCP_RR, 1 + n * (size_t)6);
    wr_u32(w, ssrc);
    for (unsigned i = 0; i < n; i++) {
        wr_u32(w, b[i].ssrc);
        wr_u8(w, b[i].fraction);
        wr_u24(w, lost24(b[i].lost));
        wr_u32(w, b[i].highest);
        wr_u32(w, b[i].jitter);
        wr_u32(w, b[i].last_sr);
        wr_u32(w, b[i].delay);
    }
}

/* 6.5: the items end with at least one zero, padded to a word. */
void rtcp_put_cname(struct wr *w, uint32_t ssrc, const char *cname)
{
    size_t n = strnlen(cname, TEXT_MAX), words = (4 + 2 + n) / 4 + 1;

    rtcp_put_head(w, 1, RTCP_SDES, words);
    wr_u32(w, ssrc);
    wr_u8(w, CNAME);
    wr_u8(w, (uint8_t)n);
    wr_bytes(w, cname, n);
    wr_be(w, 0, words * 4 - (4 + 2 + n));
}

void rtcp_put_bye(struct wr *w, uint32_t ssrc)
{
    rtcp_put_head(w, 1, RTCP_BYE, 1);
    wr_u32(w, ssrc);
}

uint64_t rtcp_ntp(int64_t unix_us)
{
    uint64_t us = (uint64_t)unix_us, seconds = us / 1000000 + EPOCH;

    return seconds << 32 | ((us % 1000000) << 32) / 1000000;
}

int64_t rtcp_unix_us(uint64_t ntp)
{
    uint64_t seconds = ntp >> 32, us = ((ntp & 0xffffffff) * 1000000 + (1u << 31)) >> 32;

    return ((int64_t)seconds - (int64_t)EPOCH) * 1000000 + (int64_t)us;
}
