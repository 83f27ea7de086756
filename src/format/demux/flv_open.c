/* SPDX-License-Identifier: MIT */
/* flv_open.c - opens an FLV file: reads its tracks. */
#include "base/mem.h"
#include "format/demux/flv_impl.h"

#include <stdlib.h>
#include <string.h>

enum { METADATA_MAX = 4 * 1024 * 1024 };

static bool is_flv(const uint8_t *begin, size_t size)
{
    return size >= 4 && memcmp(begin, "FLV\x01", 4) == 0;
}

static void close_flv(struct demux_index *index)
{
    struct flv_index *x = (struct flv_index *)index;

    free(x->entries);
    free(x->configs);
    for (unsigned t = 0; t < DEMUX_TRACKS; t++)
        free(x->config[t]);
    free(x);
}

/* [FLV] E.2: the header contains its own size. */
static enum demux_status read_begin(struct flv_index *x, const struct demux_input *in)
{
    uint8_t head[FLV_FILE_HEADER];
    enum demux_status st = in->read(in, 0, head, sizeof(head));
    struct rd r = rd_init(head + 5, 4);
    uint32_t size;

    if (st != DEMUX_OK)
        return st;
    size = rd_u32(&r);
    if (size < FLV_FILE_HEADER || (int64_t)size > in->size - FLV_TAG_TRAILER)
        return DEMUX_BROKEN;
    x->begin = (int64_t)size + FLV_TAG_TRAILER;
    return DEMUX_OK;
}

/* Reads the first tag, if it is a script tag. */
static enum demux_status read_metadata(struct flv_keyframes *k, const struct flv_index *x,
                                       const struct demux_input *in)
{
    struct flv_tags t;
    struct flv_seen seen;
    enum demux_status st;
    uint8_t *body;

    demux_flv_tags(&t, in, x->begin, in->size);
    st = demux_flv_next(&t, &seen);
    if (st != DEMUX_OK || seen.tag.type != FLV_DATA || seen.tag.size > METADATA_MAX)
        return st == DEMUX_END ? DEMUX_OK : st;
    body = mem_try(seen.tag.size + 1);
    if (!body)
        return DEMUX_NO_MEMORY;
    st = in->read(in, seen.body, body, seen.tag.size);
    if (st == DEMUX_OK && !demux_flv_keyframes(k, body, seen.tag.size))
        st = DEMUX_NO_MEMORY;
    free(body);
    return st;
}

static void describe(struct flv_index *x, const struct flv_scan *s, const struct demux_input *in)
{
    struct demux_info *info = &x->base.info;

    info->format = "flv";
    info->zero = AV_MS(s->zero);
    for (unsigned t = 0; t < DEMUX_TRACKS; t++) {
        struct demux_track *track = &info->tracks[t];

        if (!s->seen[t]) { /* a configuration without frames is not a track */
            *track = (struct demux_track){ 0 };
            info->left_out += s->unknown[t];
            continue;
        }
        track->duration = s->end[t] > s->zero ? AV_MS(s->end[t] - s->zero) : 0;
        if (track->duration > info->duration)
            info->duration = track->duration;
    }
    if (info->duration > 0)
        info->kbps = (unsigned)((double)in->size * 8 * 90 / (double)info->duration);
}

static const char *reason(enum demux_status st)
{
    switch (st) {
    case DEMUX_BROKEN:
        return "the FLV file is damaged";
    case DEMUX_TOO_LARGE:
        return "the index of the FLV file is too large";
    case DEMUX_NO_MEMORY:
        return "no memory for the index of the FLV file";
    case DEMUX_UNSUPPORTED:
        return "the FLV file has no audio or video that can be played";
    default:
        return "the FLV file cannot be read";
    }
}

static enum demux_status build(struct flv_index *x, const struct demux_input *in, size_t max)
{
    struct flv_scan *s = mem_try(sizeof(*s));
    struct flv_keyframes k = { 0 };
    enum demux_status st = s ? read_begin(x, in) : DEMUX_NO_MEMORY;

    if (st == DEMUX_OK)
        st = read_metadata(&k, x, in);
    if (st == DEMUX_OK) {
        *s = (struct flv_scan){ .x = x, .memory_max = max };
        demux_flv_tags(&s->tags, in, x->begin, in->size);
        st = demux_flv_scan(s, &k);
        if (st == DEMUX_OK)
            describe(x, s, in);
        if (st == DEMUX_OK && x->n == 0)
            st = DEMUX_UNSUPPORTED;
        demux_flv_scan_end(s);
    }
    demux_flv_keyframes_free(&k);
    free(s);
    return st;
}

static enum demux_status open_flv(struct demux_index **out, const struct demux_input *in,
                                  const struct demux_limits *limits, const char **why)
{
    struct flv_index *x = mem_try(sizeof(*x));
    enum demux_status st = DEMUX_NO_MEMORY;

    *out = NULL;
    if (x) {
        *x = (struct flv_index){ .base.format = &demux_flv, .base.info.memory = sizeof(*x) };
        st = build(x, in, limits->index_max);
    }
    if (st == DEMUX_OK) {
        *out = &x->base;
        return DEMUX_OK;
    }
    if (x)
        close_flv(&x->base);
    *why = reason(st);
    return st;
}

/* Creates the packet like that of a publisher's message, so that RTMP and FLV players get the
 * original bytes. */
static bool packet(const struct demux_index *index, const struct demux_sample *s,
                   struct av_packet *pkt)
{
    err_t err;
    bool fine;

    (void)index;
    if (pkt->size != s->size)
        return false;
    pkt->origin = s->origin;
    err = flv_packet_describe(pkt);
    pkt->dts = s->dts;
    fine = !err;
    err_free(&err);
    return fine;
}

const struct demux_format demux_flv = {
    .is = is_flv,
    .open = open_flv,
    .close = close_flv,
    .seek = demux_flv_seek,
    .place_time = demux_flv_place_time,
    .group = demux_flv_group,
    .packet = packet,
};
