/* SPDX-License-Identifier: MIT */
/* container_tracks.c - segments of MPEG-DASH: fragmented MP4, a file for each track.
 *
 * A period begins at what the wall clock says, and is called so; segments are called by their
 * period and their time in it, so names are never used again. A period ends where the stream does
 * not go on as it was: another publisher or other codecs, or when it is no longer near the wall
 * clock, by which players find the live edge. Files begin at 0 with each period: not all players
 * apply a presentationTimeOffset. availabilityStartTime is when the first period began, and stays
 * over publishers and processes as long as the MPD does.
 */
#include "sink/hls/stream.h"

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

static struct hls_shared *new_init(struct hls_stream *s, bool video, struct wr *header)
{
    struct hls_shared *x;
    char rest[48];

    (void)snprintf(rest, sizeof(rest), "init-%lld.mp4", (long long)s->now->period);
    x = hls_shared_at(s, hls_track_path(s, video, rest), false);
    x->track = about(video ? &s->mp4.video.track : &s->mp4.audio.track, video);
    x->file = hls_file_new(s->hls, header, video ? "video/mp4" : "audio/mp4");
    hls_names_set(s->hls, x->path, x->file, s);
    hls_disk_shared(s, x);
    return x;
}

/* The initialization of a track, with a reference for the caller: that of before if it fits. */
static struct hls_shared *init_of(struct hls_stream *s, bool video)
{
    struct hls_shared **at = &s->track_init[video ? 0 : 1];
    struct wr w;

    wr_init(&w, MP4_CONFIG_MAX * 2);
    mp4_frag_header_one(&s->mp4, video ? AV_VIDEO : AV_AUDIO, &w);
    if (!*at || (*at)->file->size != w.len || memcmp((*at)->file->data, w.buf, w.len) != 0) {
        hls_shared_unref(s, *at);
        *at = new_init(s, video, &w);
    }
    wr_free(&w);
    return hls_shared_ref(*at);
}

/* ------------------------------------------------------------ a segment */

static bool cut(struct hls_stream *s, struct hls_segment *seg, bool video, int64_t end)
{
    char rest[64];

    shop_free_blocks(s->shop, &s->out);
    seg->at = mp4_frag_cut_one(&s->mp4, video ? AV_VIDEO : AV_AUDIO, end, &s->out);
    if (s->out.w.bad || blocks_len(&s->out) == 0)
        return false;
    (void)snprintf(rest, sizeof(rest), "%lld-%lld.m4s", (long long)seg->period,
                   (long long)seg->at.begin);
    seg->path = hls_track_path(s, video, rest);
    seg->init = init_of(s, video);
    hls_segment_fill(s, seg);
    hls_segment_measure(seg);
    return true;
}

/* The file of the second track: of the same segment as the first. */
static struct hls_segment *second_of(const struct hls_segment *first)
{
    struct hls_segment *seg = must(calloc(1, sizeof(*seg)));

    seg->seq = first->seq;
    seg->begin = first->begin;
    seg->wall = first->wall;
    seg->period = first->period;
    return seg;
}

static bool end(struct hls_stream *s, int64_t at, struct hls_segment **second)
{
    struct hls_segment *seg = s->now;
    bool video = s->mp4.video.n > 0, both = video && s->mp4.audio.n > 0;

    seg->duration = at - seg->begin;
    if (seg->duration <= 0 || !cut(s, seg, video, at))
        return false;
    hls_shared_unref(s, s->init);
    s->init = hls_shared_ref(seg->init);
    if (!both)
        return true;
    *second = second_of(seg);
    if (!cut(s, *second, false, at)) {
        hls_segment_free(s, *second);
        *second = NULL;
        s->out.w.bad = ERR_OK;
    }
    return true;
}

/* ------------------------------------------------------------ the others */

static void begin(struct hls_stream *s)
{
    if (!s->segmenter.now.new_period)
        return;
    s->mp4.origin = s->now->begin;
    mp4_frag_jump(&s->mp4);
}

const struct hls_container hls_container_tracks = {
    .name = "MP4", .type = "video/iso.segment", .version = 7, .parts = SEGMENTER_WHOLE,
    .inits = true, .file = hls_mp4_file, .takes = mp4_track_takes,
    .is_begun = hls_mp4_is_begun, .configure = hls_mp4_configure, .open = begin,
    .add = hls_mp4_add, .close = end,
};
