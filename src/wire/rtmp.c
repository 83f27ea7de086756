/* SPDX-License-Identifier: MIT */
/* rtmp.c - a live stream as RTMP chunks. */
#include "wire/rtmp.h"

#include "format/flv/flv.h"
#include "proto/rtmp/chunk_out.h"

static bool is_left_out(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt)
{
    uint32_t mask = param[RTMP_WIRE_LEAVE_OUT];

    return mask && ((mask & RTMP_WIRE_NO_AUDIO && pkt->kind == AV_AUDIO) ||
                    (mask & RTMP_WIRE_NO_VIDEO && pkt->kind == AV_VIDEO));
}

static void build(struct flv_message *m, const uint32_t param[LIVE_PARAMS],
                  const struct av_packet *pkt)
{
    flv_message_build(m, pkt);
    if (param[RTMP_WIRE_LEAVE_OUT] & RTMP_WIRE_NO_OPUS)
        (void)flv_message_leave_out_opus(m, pkt);
}

static uint32_t wire_time(int64_t dts)
{
    return (uint32_t)(dts / AV_MS(1)); /* wraps after 49 days, as RTMP's clock does */
}

static size_t size(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt, int64_t dts)
{
    struct flv_message m;

    if (is_left_out(param, pkt))
        return 0;
    build(&m, param, pkt);
    if (!m.type)
        return 0;
    return rtmp_out_size(rtmp_out_csid(m.type), wire_time(dts), flv_message_size(&m),
                         param[RTMP_WIRE_CHUNK_SIZE]);
}

static void render(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt, int64_t dts,
                   uint8_t *out)
{
    struct flv_message m;
    struct rtmp_msg msg = { .stream_id = param[RTMP_WIRE_STREAM_ID], .time = wire_time(dts) };

    build(&m, param, pkt);
    msg.type = m.type;
    msg.csid = rtmp_out_csid(m.type);
    msg.size = flv_message_size(&m);
    msg.payload = (uint8_t *)(uintptr_t)m.rest;
    (void)rtmp_out_render_parts(out, &msg, m.head, m.head_size, param[RTMP_WIRE_CHUNK_SIZE]);
}

const struct live_format rtmp_wire = { .name = "rtmp", .size = size, .render = render };
