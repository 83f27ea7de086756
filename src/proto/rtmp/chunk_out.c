/* SPDX-License-Identifier: MIT */
/* chunk_out.c - writes a message as chunks [RTMP 5.3]. */
#include "proto/rtmp/chunk_out.h"

#include "base/be.h"

#include <string.h>

enum { EXTENDED = 0xffffff, MESSAGE_HEADER = 11 };

uint32_t rtmp_out_csid(uint8_t type)
{
    switch (type) {
    case RTMP_AUDIO:
        return RTMP_CSID_AUDIO;
    case RTMP_VIDEO:
        return RTMP_CSID_VIDEO;
    case RTMP_DATA:
    case RTMP_DATA_AMF3:
        return RTMP_CSID_DATA;
    case RTMP_COMMAND:
    case RTMP_COMMAND_AMF3:
        return RTMP_CSID_COMMAND;
    default:
        return type <= RTMP_SET_PEER_BANDWIDTH ? RTMP_CSID_CONTROL : RTMP_CSID_STREAM;
    }
}

static size_t next_size(uint32_t csid, uint32_t time)
{
    size_t basic = csid < 64 ? 1 : csid < 320 ? 2 : 3;

    return basic + (time >= EXTENDED ? 4 : 0);
}

size_t rtmp_out_size(uint32_t csid, uint32_t time, size_t payload_size, uint32_t chunk_size)
{
    size_t chunks = payload_size ? (payload_size + chunk_size - 1) / chunk_size : 1;

    return chunks * next_size(csid, time) + MESSAGE_HEADER + payload_size;
}

/* [RTMP 5.3.1.1] */
static uint8_t *put_basic(uint8_t *p, uint8_t fmt, uint32_t csid)
{
    uint32_t rest = csid - 64;

    *p++ = (uint8_t)(fmt << 6 | (csid < 64 ? csid : csid < 320 ? 0 : 1));
    if (csid >= 64)
        *p++ = (uint8_t)rest;
    if (csid >= 320)
        *p++ = (uint8_t)(rest >> 8);
    return p;
}

size_t rtmp_out_first(uint8_t *dst, const struct rtmp_msg *msg)
{
    uint8_t *p = put_basic(dst, 0, msg->csid);

    p = be_put24(p, msg->time < EXTENDED ? msg->time : EXTENDED);
    p = be_put24(p, msg->size);
    *p++ = msg->type;
    for (int i = 0; i < 4; i++) /* the only little-endian field, [RTMP 5.3.1.2.1] */
        *p++ = (uint8_t)(msg->stream_id >> 8 * i);
    if (msg->time >= EXTENDED)
        p = be_put32(p, msg->time);
    return (size_t)(p - dst);
}

size_t rtmp_out_next(uint8_t *dst, uint32_t csid, uint32_t time)
{
    uint8_t *p = put_basic(dst, 3, csid);

    if (time >= EXTENDED)
        p = be_put32(p, time);
    return (size_t)(p - dst);
}

/* Body of a message, in two pieces. */
struct body {
    const uint8_t *head, *rest;
    size_t head_left;
};

static uint8_t *put_body(uint8_t *p, struct body *b, size_t n)
{
    size_t from_head = n < b->head_left ? n : b->head_left;

    if (from_head > 0) {
        memcpy(p, b->head, from_head);
        b->head += from_head;
        b->head_left -= from_head;
        p += from_head;
        n -= from_head;
    }
    if (n > 0) {
        memcpy(p, b->rest, n);
        b->rest += n;
    }
    return p + n;
}

size_t rtmp_out_render_parts(uint8_t *dst, const struct rtmp_msg *msg, const uint8_t *head,
                             size_t head_size, uint32_t chunk_size)
{
    uint8_t *p = dst + rtmp_out_first(dst, msg), next[RTMP_OUT_NEXT];
    struct body body = { .head = head, .rest = msg->payload, .head_left = head_size };
    size_t left = msg->size, next_n;

    if (left <= chunk_size)
        return (size_t)(put_body(p, &body, left) - dst);
    next_n = rtmp_out_next(next, msg->csid, msg->time);
    for (;;) {
        size_t n = left < chunk_size ? left : chunk_size;

        p = put_body(p, &body, n);
        left -= n;
        if (left == 0)
            return (size_t)(p - dst);
        memcpy(p, next, next_n);
        p += next_n;
    }
}

size_t rtmp_out_render(uint8_t *dst, const struct rtmp_msg *msg, uint32_t chunk_size)
{
    return rtmp_out_render_parts(dst, msg, NULL, 0, chunk_size);
}

void rtmp_out_put(struct wr *w, const struct rtmp_msg *msg, uint32_t chunk_size)
{
    uint8_t head[RTMP_OUT_FIRST];
    size_t n = rtmp_out_first(head, msg), at = 0;

    wr_bytes(w, head, n);
    n = rtmp_out_next(head, msg->csid, msg->time);
    while (msg->size > 0) {
        size_t part = msg->size - at < chunk_size ? msg->size - at : chunk_size;

        wr_bytes(w, msg->payload + at, part);
        at += part;
        if (at >= msg->size)
            break;
        wr_bytes(w, head, n);
    }
}
