/* SPDX-License-Identifier: MIT */
/* rtmp.c - a live stream as RTMP chunks. */
#include "wire/rtmp.h"

#include "proto/rtmp/chunk_out.h"

static bool is_left_out(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt)
{
    uint32_t mask = param[RTMP_WIRE_LEAVE_OUT];

    return mask && ((mask & RTMP_WIRE_NO_AUDIO && pkt->kind == AV_AUDIO) ||
                    (mask & RTMP_WIRE_NO_VIDEO && pkt->kind == AV_VIDEO));
}

static uint32_t wire_time(int64_t dts)
{
    return (uint32_t)(dts / AV_MS(1)); /* wraps after 49 days, as RTMP's clock does */
}

static size_t size(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt, int64_t dts)
{
    if (is_left_out(param, pkt))
        return 0;
    return rtmp_out_size(rtmp_out_csid(pkt->origin), wire_time(dts), pkt->size,
                         param[RTMP_WIRE_CHUNK_SIZE]);
}

static void render(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt, int64_t dts,
                   uint8_t *out)
{
    struct rtmp_msg msg = {
        .type = pkt->origin,
        .csid = rtmp_out_csid(pkt->origin),
        .stream_id = param[RTMP_WIRE_STREAM_ID],
        .time = wire_time(dts),
        .size = pkt->size,
        .payload = (uint8_t *)(uintptr_t)pkt->data,
    };

    (void)rtmp_out_render(out, &msg, param[RTMP_WIRE_CHUNK_SIZE]);
}

const struct live_format rtmp_wire = { .name = "rtmp", .size = size, .render = render };
