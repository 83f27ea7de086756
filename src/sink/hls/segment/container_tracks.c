/* SPDX-License-Identifier: MIT */
/* container_tracks.c - segments of MPEG-DASH: fragmented MP4, one file per track.
 *
 * A period starts at the time of the wall clock and is named after it. Segments are named after
 * their period and their time in it, so names are never reused. A period ends at a discontinuity:
 * another publisher, other codecs, or a drift from the wall clock, by which players find the live
 * edge. Times in files start at 0 in each period, because some players ignore
 * presentationTimeOffset. availabilityStartTime is the start of the first period and stays the same
 * over publishers and processes as long as the MPD exists.
 */
#include "sink/hls/segment/muxer.h"

#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ files of a track */

static struct mpd_track about(const struct mp4_track *t, bool video)
{
    struct mpd_track track = { .video = video, .timescale = t->timescale };

    (void)mp4_track_name(t, track.codecs, sizeof(track.codecs));
    track.width = t->info.width;
    track.height = t->info.height;
    track.fps = t->info.fps;
    track.rate = t->info.sample_rate;
    track.channels = t->info.channels;
    return track;
}

static struct hls_shared *new_init(struct hls_muxer *m, bool video, struct wr *header)
{
    struct hls_shared *x;
    char rest[48];

    (void)snprintf(rest, sizeof(rest), "init-%lld.mp4", (long long)m->now->period);
    x = hls_shared_at(m->store, hls_track_path(m->info, video, rest), false);
    x->track = about(video ? &m->mp4.video.track : &m->mp4.audio.track, video);
    hls_shared_fill(m->store, x, header, video ? "video/mp4" : "audio/mp4");
    return x;
}

/* Returns the init segment of a track, with a reference for the caller: the existing one if it
 * still fits. */
static struct hls_shared *init_of(struct hls_muxer *m, bool video)
{
    struct hls_shared **at = &m->track_init[video ? 0 : 1];
    struct wr w;

    wr_init(&w, MP4_CONFIG_MAX * 2);
    mp4_frag_header_one(&m->mp4, video ? AV_VIDEO : AV_AUDIO, &w);
    if (!*at || (*at)->file->size != w.len || memcmp((*at)->file->data, w.buf, w.len) != 0) {
        hls_shared_unref(m->store, *at);
        *at = new_init(m, video, &w);
    }
    wr_free(&w);
    return hls_shared_ref(*at);
}

/* ------------------------------------------------------------ a segment */

static bool cut(struct hls_muxer *m, struct hls_segment *seg, bool video, int64_t end)
{
    char rest[64];

    block_cache_return(m->info->cache, &m->out);
    seg->at = mp4_frag_cut_one(&m->mp4, video ? AV_VIDEO : AV_AUDIO, end, &m->out);
    if (m->out.w.bad || blocks_len(&m->out) == 0)
        return false;
    (void)snprintf(rest, sizeof(rest), "%lld-%lld.m4s", (long long)seg->period,
                   (long long)seg->at.begin);
    seg->path = hls_track_path(m->info, video, rest);
    seg->init = init_of(m, video);
    hls_segment_fill(m->store, seg, &m->out);
    hls_segment_measure(seg);
    return true;
}

/* Creates the file of the second track for the same segment. */
static struct hls_segment *second_of(const struct hls_segment *first)
{
    struct hls_segment *seg = must(calloc(1, sizeof(*seg)));

    seg->seq = first->seq;
    seg->begin = first->begin;
    seg->wall = first->wall;
    seg->period = first->period;
    return seg;
}

static bool end(struct hls_muxer *m, int64_t at, struct hls_segment **second)
{
    struct hls_segment *seg = m->now;
    bool video = m->mp4.video.n > 0, both = video && m->mp4.audio.n > 0;

    seg->duration = at - seg->begin;
    if (seg->duration <= 0 || !cut(m, seg, video, at))
        return false;
    hls_shared_unref(m->store, m->init);
    m->init = hls_shared_ref(seg->init);
    if (!both)
        return true;
    *second = second_of(seg);
    if (!cut(m, *second, false, at)) {
        hls_segment_free(m->store, *second);
        *second = NULL;
        m->out.w.bad = ERR_OK;
    }
    return true;
}

/* ------------------------------------------------------------ the container */

static void begin(struct hls_muxer *m)
{
    if (!m->segmenter.now.new_period)
        return;
    m->mp4.origin = m->now->begin;
    mp4_frag_jump(&m->mp4);
}

const struct hls_container hls_container_tracks = {
    .name = "MP4", .type = "video/iso.segment", .version = 7, .parts = SEGMENTER_WHOLE,
    .inits = true, .file = hls_mp4_file, .takes = mp4_track_takes,
    .is_begun = hls_mp4_is_begun, .open = begin, .add = hls_mp4_add, .close = end,
};
