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
           (mask & FLV_WIRE_NO_VIDEO && pkt->kind == AV_VIDEO);
}

static void build(struct flv_message *m, const uint32_t param[LIVE_PARAMS],
                  const struct av_packet *pkt)
{
    flv_message_build_tag(m, pkt);
    if (param[FLV_WIRE_LEAVE_OUT] & FLV_WIRE_NO_OPUS)
        (void)flv_message_leave_out_opus(m, pkt);
}

static size_t tag_size(const struct flv_message *m)
{
    return FLV_TAG_HEADER + flv_message_size(m) + FLV_TAG_TRAILER;
}

static size_t size(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt, int64_t dts)
{
    struct flv_message m;

    (void)dts;
    if (is_left_out(param, pkt))
        return 0;
    build(&m, param, pkt);
    return m.type ? tag_size(&m) : 0;
}

static void put_tag(const struct flv_message *m, int64_t dts, uint8_t *out)
{
    uint32_t body = flv_message_size(m), whole = FLV_TAG_HEADER + body;
    const struct flv_tag tag = {
        .type = m->type, .size = body, .time = (uint32_t)(dts / AV_MS(1)),
    };

    flv_tag_build(out, &tag);
    memcpy(out + FLV_TAG_HEADER, m->head, m->head_size);
    memcpy(out + FLV_TAG_HEADER + m->head_size, m->rest, m->rest_size);
    out += whole;
    for (int i = 0; i < FLV_TAG_TRAILER; i++)
        out[i] = (uint8_t)(whole >> 8 * (3 - i));
}

static void render(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt, int64_t dts,
                   uint8_t *out)
{
    struct flv_message m;

    build(&m, param, pkt);
    put_tag(&m, dts, out);
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
    struct flv_message m;
    size_t n;

    build(&m, param, pkt);
    n = http_ws_head(head, HTTP_WS_BINARY, tag_size(&m), NULL);
    memcpy(out, head, n);
    put_tag(&m, dts, out + n);
}

const struct live_format flv_wire = { .name = "flv", .size = size, .render = render };
const struct live_format flv_wire_ws = { .name = "ws-flv", .size = ws_size,
                                         .render = ws_render };
