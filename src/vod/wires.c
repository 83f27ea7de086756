/* SPDX-License-Identifier: MIT */
/* wires.c - files as FLV, FLV over WebSocket and RTMP: the live formats render each packet, with
 * the file's time. */
#include "vod/wires.h"

#include "base/must.h"
#include "wire/flv.h"
#include "wire/rtmp.h"

#include <stdlib.h>

struct plain_part {
    const struct vod_wire_use *use;
    int64_t later; /* 1/90000 s: the duration of all finished rounds of a loop */
};

void vod_wire_put(const struct vod_wire_use *use, const struct av_packet *pkt, int64_t dts,
                  struct wr *out)
{
    const struct live_format *fmt = use->wire->format;
    size_t size = fmt->size(use->param, pkt, dts);
    uint8_t *at = size > 0 ? wr_reserve(out, size) : NULL;

    if (!at)
        return;
    fmt->render(use->param, pkt, dts, at);
    out->len += size;
}

static void *open_part(const struct vod_wire_use *use, const struct demux_info *info, bool starts,
                       const struct vod_numbers *from)
{
    struct plain_part *s = must(calloc(1, sizeof(*s)));

    (void)starts;
    (void)from;
    *s = (struct plain_part){ use, use->round * info->duration };
    return s;
}

static void make(void *state, const struct av_packet *pkt, struct wr *out)
{
    const struct plain_part *s = state;

    vod_wire_put(s->use, pkt, pkt->dts + s->later, out);
}

static void close_part(void *state, struct vod_numbers *to)
{
    *to = (struct vod_numbers){ .reported = 0 };
    free(state);
}

const struct vod_wire vod_wire_flv = { "flv", open_part, make, close_part, &flv_wire };
const struct vod_wire vod_wire_flv_ws = { "ws-flv", open_part, make, close_part, &flv_wire_ws };
const struct vod_wire vod_wire_rtmp = { "rtmp", open_part, make, close_part, &rtmp_wire };
