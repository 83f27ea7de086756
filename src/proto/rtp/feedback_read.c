/* SPDX-License-Identifier: MIT */
/* feedback_read.c - NACK, PLI and extended reports that came, and the kinds of the others. */
#include "proto/rtp/feedback.h"

enum { NACK = 1, TWCC = 15, PLI = 1, FIR = 4, APPLICATION = 15, RRTR = 4, DLRR = 5 };

/* [RFC 4585] 6.1: the type and what is in `count` together say what it is. */
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

/* [RFC 3611] 3: the next block, and what is in it. */
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
