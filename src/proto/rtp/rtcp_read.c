/* SPDX-License-Identifier: MIT */
/* rtcp_read.c - RTCP that came, [RFC 3550] 6.4 to 6.7 and A.2. */
#include "proto/rtp/rtcp.h"

#include "proto/rtp/header.h"

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

/* What is in front of the rest of it. False: that does not fit. */
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

/* 6.5: items of a type, a length and a text, up to a type of 0. */
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
