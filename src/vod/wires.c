/* SPDX-License-Identifier: MIT */
/* wires.c - files as FLV, FLV in WebSocket frames, and RTMP: what the live formats make of a
 * packet, with the file's time. */
#include "vod/wires.h"

#include "base/must.h"
#include "wire/flv.h"
#include "wire/rtmp.h"

#include <stdlib.h>

struct plain_part {
    const struct live_format *fmt;
    uint32_t param[LIVE_PARAMS];
    int64_t later; /* 1/90000 s: rounds of a loop that are over */
};

static void *open_part(const struct live_format *fmt, const struct vod_wire_use *use,
                       const struct demux_info *info)
{
    struct plain_part *s = must(calloc(1, sizeof(*s)));

    s->fmt = fmt;
    s->later = use->round * info->duration;
    for (unsigned i = 0; i < LIVE_PARAMS; i++)
        s->param[i] = use->param[i];
    return s;
}

static void make(void *state, const struct av_packet *pkt, struct wr *out)
{
    const struct plain_part *s = state;
    int64_t dts = pkt->dts + s->later;
    size_t size = s->fmt->size(s->param, pkt, dts);
    uint8_t *at = size > 0 ? wr_reserve(out, size) : NULL;

    if (!at)
        return;
    s->fmt->render(s->param, pkt, dts, at);
    out->len += size;
}

static void close_part(void *state, struct vod_numbers *to)
{
    *to = (struct vod_numbers){ .reported = 0 };
    free(state);
}

#define OPEN(name, format)                                                                   \
    static void *name(const struct vod_wire_use *use, const struct demux_info *info,         \
                      bool starts, const struct vod_numbers *from)                           \
    {                                                                                        \
        (void)starts;                                                                        \
        (void)from;                                                                          \
        return open_part(format, use, info);                                                 \
    }
OPEN(open_flv, &flv_wire)
OPEN(open_ws, &flv_wire_ws)
OPEN(open_rtmp, &rtmp_wire)
#undef OPEN

const struct vod_wire vod_wire_flv = { .name = "flv", .open = open_flv, .make = make,
                                       .close = close_part };
const struct vod_wire vod_wire_flv_ws = { .name = "ws-flv", .open = open_ws, .make = make,
                                          .close = close_part };
const struct vod_wire vod_wire_rtmp = { .name = "rtmp", .open = open_rtmp, .make = make,
                                        .close = close_part };
