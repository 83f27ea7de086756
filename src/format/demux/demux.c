/* SPDX-License-Identifier: MIT */
/* demux.c - MP4 and FLV files; the first bytes of a file decide its format. */
#include "format/demux/impl.h"

static const struct demux_format *const formats[] = { &demux_flv, &demux_mp4 };

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

enum demux_status demux_open(struct demux_index **out, const struct demux_input *in,
                             const struct demux_limits *limits, const char **why)
{
    uint8_t begin[DEMUX_BEGIN];
    size_t n = in->size < DEMUX_BEGIN ? (size_t)in->size : DEMUX_BEGIN;
    enum demux_status st = in->read(in, 0, begin, n);

    *out = NULL;
    *why = "it cannot be read";
    if (st != DEMUX_OK)
        return st;
    for (unsigned i = 0; i < FORMATS; i++) {
        if (formats[i]->is(begin, n))
            return formats[i]->open(out, in, limits, why);
    }
    *why = "it is neither MP4 nor FLV";
    return DEMUX_BROKEN;
}

void demux_close(struct demux_index *index)
{
    if (index)
        index->format->close(index);
}

const struct demux_info *demux_info(const struct demux_index *index)
{
    return &index->info;
}

demux_position demux_seek(const struct demux_index *index, int64_t time)
{
    return index->format->seek(index, time);
}

int64_t demux_position_time(const struct demux_index *index, demux_position place, int64_t *pts)
{
    return index->format->place_time(index, place, pts);
}

enum demux_status demux_group(struct demux_group **out, const struct demux_index *index,
                              const struct demux_input *in, demux_position place, const char **why)
{
    *out = NULL;
    *why = "its place cannot be read";
    return index->format->group(out, index, in, place, why);
}

bool demux_packet(const struct demux_index *index, const struct demux_sample *s,
                  struct av_packet *pkt)
{
    return index->format->packet(index, s, pkt);
}
