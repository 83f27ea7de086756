/* SPDX-License-Identifier: MIT */
/* flv.c - a live stream as FLV tags, plain and in WebSocket frames. */
#include "wire/flv.h"

#include "format/flv/flv.h"
#include "proto/http/ws.h"

#include <string.h>

static bool is_left_out(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt)
{
    uint32_t mask = param[FLV_WIRE_LEAVE_OUT];

    return (mask & FLV_WIRE_NO_AUDIO && pkt->kind == AV_AUDIO) ||
           (mask & FLV_WIRE_NO_VIDEO && pkt->kind == AV_VIDEO) ||
           (pkt->origin == FLV_DATA_AMF3 && pkt->size == 0);
}

/* A file has no tags of AMF3 data; behind its first byte such a message is an AMF0 one. */
static uint32_t body_at(const struct av_packet *pkt)
{
    return pkt->origin == FLV_DATA_AMF3 ? 1 : 0;
}

static size_t tag_size(const struct av_packet *pkt)
{
    return FLV_TAG_HEADER + (pkt->size - body_at(pkt)) + FLV_TAG_TRAILER;
}

static size_t size(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt, int64_t dts)
{
    (void)dts;
    return is_left_out(param, pkt) ? 0 : tag_size(pkt);
}

static void render(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt, int64_t dts,
                   uint8_t *out)
{
    uint32_t at = body_at(pkt), body = pkt->size - at, whole = FLV_TAG_HEADER + body;
    const struct flv_tag tag = {
        .type = pkt->origin == FLV_DATA_AMF3 ? FLV_DATA : pkt->origin,
        .size = body,
        .time = (uint32_t)(dts / AV_MS(1)),
    };

    (void)param;
    flv_tag_build(out, &tag);
    memcpy(out + FLV_TAG_HEADER, pkt->data + at, body);
    out += whole;
    for (int i = 0; i < FLV_TAG_TRAILER; i++)
        out[i] = (uint8_t)(whole >> 8 * (3 - i));
}

static size_t ws_size(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt, int64_t dts)
{
    size_t n = size(param, pkt, dts);

    return n ? http_ws_head_size(n, false) + n : 0;
}

static void ws_render(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt, int64_t dts,
                      uint8_t *out)
{
    uint8_t head[HTTP_WS_HEAD_MAX];
    size_t n = http_ws_head(head, HTTP_WS_BINARY, tag_size(pkt), NULL);

    memcpy(out, head, n);
    render(param, pkt, dts, out + n);
}

const struct live_format flv_wire = { .name = "flv", .size = size, .render = render };
const struct live_format flv_wire_ws = { .name = "ws-flv", .size = ws_size,
                                         .render = ws_render };
