/* SPDX-License-Identifier: MIT */
/* mp4_open.c - MP4 files, [ISO-FF] ISO/IEC 14496-12. */
#include "av/packet.h"
#include "format/demux/impl.h"

#include <string.h>

/* The first box of a file is one of these. */
static bool is_mp4(const uint8_t *begin, size_t size)
{
    static const char types[][5] = { "ftyp", "moov", "mdat", "free", "skip", "wide", "styp",
                                     "sidx", "pnot", "uuid" };

    for (size_t i = 0; size >= 8 && i < sizeof(types) / sizeof(types[0]); i++) {
        if (memcmp(begin + 4, types[i], 4) == 0)
            return true;
    }
    return false;
}

static enum demux_status open_mp4(struct demux_index **out, const struct demux_input *in,
                                  const struct demux_limits *limits, const char **why)
{
    (void)in;
    (void)limits;
    *out = NULL;
    *why = "MP4 is not read yet";
    return DEMUX_UNSUPPORTED;
}

static void close_mp4(struct demux_index *index)
{
    (void)index;
}

static demux_place seek_mp4(const struct demux_index *index, int64_t time)
{
    (void)index;
    (void)time;
    return 0;
}

static enum demux_status group_mp4(struct demux_group **out, const struct demux_index *index,
                                   const struct demux_input *in, demux_place place,
                                   const char **why)
{
    (void)out;
    (void)index;
    (void)in;
    (void)place;
    (void)why;
    return DEMUX_END;
}

static bool packet_mp4(const struct demux_index *index, const struct demux_sample *s,
                       struct av_packet *pkt)
{
    const struct demux_track *t = &index->info.tracks[s->track];

    if (s->size > pkt->size)
        return false;
    pkt->kind = s->track == DEMUX_VIDEO ? AV_VIDEO : AV_AUDIO;
    pkt->codec = (uint8_t)t->codec;
    pkt->payload = pkt->size - s->size;
    pkt->key = s->key && s->track == DEMUX_VIDEO;
    pkt->config = s->config;
    pkt->dts = s->dts;
    pkt->cts = s->cts;
    return true;
}

const struct demux_format demux_mp4 = {
    .is = is_mp4, .open = open_mp4, .close = close_mp4, .seek = seek_mp4, .group = group_mp4,
    .packet = packet_mp4,
};
