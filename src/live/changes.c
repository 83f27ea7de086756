/* SPDX-License-Identifier: MIT */
/* changes.c - counts how often a publisher changes its decoder configuration. */
#include "live/changes.h"

#include "base/pace.h"

#include <string.h>

#define ONE_MORE CO_SECONDS(1)

/* Returns the index of a track. Tracks beyond the table share its last entry. */
static size_t index_of(struct live_changes *c, const struct av_packet *pkt)
{
    uint32_t id = (uint32_t)pkt->kind << 16 | (uint32_t)pkt->track | 1u << 31;
    size_t i = 0;

    while (i + 1 < LIVE_CHANGES_TRACKS && c->v[i].id && c->v[i].id != id)
        i++;
    if (!c->v[i].id)
        c->v[i].id = id;
    return i;
}

static bool codec_changes(struct live_changes *c, const struct av_packet *pkt)
{
    size_t i = index_of(c, pkt);
    uint8_t was = c->v[i].codec;

    c->v[i].codec = pkt->codec;
    return was && was != pkt->codec;
}

static bool size_changes(struct live_changes *c, const struct av_packet *pkt)
{
    const struct av_codec_row *row = av_codec_row((enum av_codec)pkt->codec);
    size_t i;
    uint32_t width, height, was;

    if (!pkt->key || !row->key_size ||
        !row->key_size(av_packet_payload(pkt), av_packet_payload_size(pkt), &width, &height))
        return false;
    i = index_of(c, pkt);
    was = c->v[i].width;
    if (was == width && c->v[i].height == height)
        return false;
    c->v[i].width = width;
    c->v[i].height = height;
    return was > 0;
}

static bool is_change(struct live_changes *c, const struct av_packet *pkt,
                      const struct av_packet *before)
{
    bool one_track = pkt->track != AV_TRACK_MANY && pkt->codec, codec;

    if (pkt->kind == AV_DATA || pkt->extra)
        return false;
    codec = one_track && codec_changes(c, pkt);
    if (pkt->config)
        return before && (before->size != pkt->size ||
                          memcmp(before->data, pkt->data, pkt->size) != 0);
    return codec || (one_track && size_changes(c, pkt));
}

bool live_changes_exceed(struct live_changes *c, const struct av_packet *pkt,
                         const struct av_packet *before, int at_once, co_usec now)
{
    const struct pace pace = { ONE_MORE, at_once };

    if (!is_change(c, pkt, before) || at_once <= 0)
        return false;
    c->over = !pace_take(&pace, &c->full_at, now);
    return c->over;
}
