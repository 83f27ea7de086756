/* SPDX-License-Identifier: MIT */
/* packet.c - plain packets, [RTMFP] 2.2.4: which chunks are in it, and which of them count. */
#include "proto/rtmfp/packet.h"

enum { HAS_TIME = 0x08, HAS_ECHO = 0x04, MODE = 0x03 };

bool rtmfp_packet_read(struct rtmfp_packet *out, struct rtmfp_bytes plain)
{
    struct rd r = rtmfp_rd(plain);
    uint8_t flags = rd_u8(&r);

    *out = (struct rtmfp_packet){
        .head = {
            .mode = (enum rtmfp_mode)(flags & MODE),
            .flags = flags & (uint8_t)~(HAS_TIME | HAS_ECHO | MODE),
            .has_time = flags & HAS_TIME,
            .has_echo = flags & HAS_ECHO,
        },
    };
    if (out->head.has_time)
        out->head.time = rd_u16(&r);
    if (out->head.has_echo)
        out->head.echo = rd_u16(&r);
    out->chunks = r;
    return !r.bad && out->head.mode != 0;
}

bool rtmfp_chunk_any(struct rtmfp_packet *p, struct rtmfp_chunk *out)
{
    struct rd *r = &p->chunks;
    uint16_t size;

    if (rd_left(r) < RTMFP_CHUNK_HEAD)
        return false;
    out->type = rd_u8(r);
    size = rd_u16(r);
    out->body = rtmfp_bytes(rd_take(r, size), size);
    return !r->bad;
}

static bool is_for(uint8_t type, enum rtmfp_mode mode)
{
    switch (type) {
    case RTMFP_IHELLO:
    case RTMFP_RHELLO:
    case RTMFP_REDIRECT:
    case RTMFP_IIKEYING:
    case RTMFP_RIKEYING:
    case RTMFP_COOKIE_CHANGE:
        return mode == RTMFP_STARTUP;
    case RTMFP_FORWARDED_IHELLO:
    case RTMFP_PING:
    case RTMFP_PING_REPLY:
    case RTMFP_USER_DATA:
    case RTMFP_NEXT_USER_DATA:
    case RTMFP_ACK_BITMAP:
    case RTMFP_ACK_RANGES:
    case RTMFP_BUFFER_PROBE:
    case RTMFP_FLOW_EXCEPTION:
    case RTMFP_CLOSE:
    case RTMFP_CLOSE_ACK:
        return mode == RTMFP_INITIATOR || mode == RTMFP_RESPONDER;
    case RTMFP_FRAGMENT:
        return true;
    default:
        return false;
    }
}

bool rtmfp_chunk_next(struct rtmfp_packet *p, struct rtmfp_chunk *out)
{
    while (rtmfp_chunk_any(p, out))
        if (is_for(out->type, p->head.mode))
            return true;
    return false;
}

/* ---- writing */

void rtmfp_packet_begin(struct wr *w, const struct rtmfp_head *head)
{
    wr_u8(w, (uint8_t)(head->flags | (head->has_time ? HAS_TIME : 0) |
                       (head->has_echo ? HAS_ECHO : 0) | head->mode));
    if (head->has_time)
        wr_u16(w, head->time);
    if (head->has_echo)
        wr_u16(w, head->echo);
}

size_t rtmfp_chunk_begin(struct wr *w, enum rtmfp_type type)
{
    size_t begin = w->len;

    wr_u8(w, (uint8_t)type);
    wr_u16(w, 0);
    return begin;
}

bool rtmfp_chunk_end(struct wr *w, size_t begin)
{
    size_t size = w->len - begin - RTMFP_CHUNK_HEAD;

    if (w->bad || size > UINT16_MAX) {
        w->bad = ERR_OK;
        w->len = begin;
        return false;
    }
    w->buf[begin + 1] = (uint8_t)(size >> 8);
    w->buf[begin + 2] = (uint8_t)size;
    return true;
}
