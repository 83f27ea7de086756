/* SPDX-License-Identifier: MIT */
/* cut.c - puts frames into segments as the segmenter decides. */
#include "base/log.h"
#include "base/pace.h"
#include "sink/hls/segment/muxer.h"

/* Limits for segments and parts, for any publisher and any number of reconnects: over this rate
 * they become longer, and frames that need a new segment are dropped. Streams sent faster than real
 * time stay below it. */
static const struct pace segments = { CO_MS(250), 40 }, parts = { CO_MS(20), 400 };

static bool is_full(const struct hls_muxer *m)
{
    return m->out.w.bad || blocks_len(&m->out) + mp4_frag_bytes(&m->mp4) > hls_most(m->info);
}

static void left_out(struct hls_muxer *m, err_t err)
{
    if (m->bad++ == 0)
        log_end("HLS or DASH: a frame left out, more are only counted", &err);
    err_free(&err);
}

/* Applies a new codec configuration: ends the segment if there is one. */
static void reconfigure(struct hls_muxer *m, const struct frame *f)
{
    const struct mp4_part *mine = f->kind == AV_VIDEO ? &m->mp4.video : &m->mp4.audio;

    if (!mp4_frag_changes(&m->mp4, f) || !m->info->container->is_begun(m, mine))
        return;
    m->segmenter.discontinuity = true;
    if (m->now)
        hls_segment_close(m, segmenter_end(&m->segmenter));
    hls_shared_unref(m->store, m->init);
    m->init = NULL;
}

static void configure(struct hls_muxer *m, const struct frame *f)
{
    struct mp4_track *t = f->kind == AV_VIDEO ? &m->mp4.video.track : &m->mp4.audio.track;
    bool changed;
    err_t err;

    if (m->begun)
        reconfigure(m, f);
    if (f->kind == AV_VIDEO)
        m->segmenter.has_video = true;
    err = mp4_track_set(t, f, &changed);
    if (!err && m->info->container->configure)
        err = m->info->container->configure(m, f);
    if (err)
        left_out(m, err);
}

static void mux(struct hls_muxer *m, const struct frame *f)
{
    err_t err = m->info->container->add(m, f);

    if (err)
        left_out(m, err);
    hls_seal(m);
}

static void log_codec(struct hls_muxer *m, const struct frame *f)
{
    bool *logged = &m->logged_codec[f->kind == AV_VIDEO ? 0 : 1];

    if (!*logged)
        log_warn("%s: %s cannot be in %s, the track is dropped%s", m->info->name,
                 av_codec_name(f->codec), m->info->container->name,
                 mp4_track_takes(f->codec) ? ": set hls_use_fmp4 on" : "");
    *logged = true;
}

static unsigned how_to_go_on(const struct hls_muxer *m)
{
    co_usec now = co_now();
    unsigned how = m->now && is_full(m) ? SEGMENTER_FULL : 0;

    if (!pace_allows(&segments, m->segments_full_at, now))
        how |= SEGMENTER_NO_END;
    if (m->info->set.ll && !pace_allows(&parts, m->parts_full_at, now))
        how |= SEGMENTER_NO_PART;
    return how;
}

/* Opens a segment. Returns false if there were too many in a short time: the stream continues with
 * a later frame. */
static bool begin(struct hls_muxer *m, const struct frame *f)
{
    if (!pace_take(&segments, &m->segments_full_at, co_now())) {
        m->segmenter.discontinuity = true;
        mp4_frag_jump(&m->mp4);
        return false;
    }
    hls_segment_open(m, f);
    return true;
}

/* Ensures that the segment of the frame is open. Returns false if the frame belongs to none. */
static bool open_for(struct hls_muxer *m, const struct frame *f)
{
    enum segmenter_todo todo;

    while ((todo = segmenter_next(&m->segmenter, f, how_to_go_on(m))) != SEGMENTER_ADD) {
        if (todo == SEGMENTER_SKIP || (todo == SEGMENTER_BEGIN && !begin(m, f)))
            return false;
        if (todo == SEGMENTER_END) {
            hls_segment_close(m, f->dts);
        } else if (todo == SEGMENTER_PART) {
            (void)pace_take(&parts, &m->parts_full_at, co_now());
            hls_part_end(m, f->dts);
        }
    }
    return true;
}

void hls_frame(struct hls_muxer *m, struct frame *f)
{
    if (!m->info->container->takes(f->codec)) {
        log_codec(m, f);
        return;
    }
    if (f->config) {
        configure(m, f);
        return;
    }
    segmenter_time(&m->segmenter, f);
    if (av_codec_frames_configure(f->codec))
        configure(m, f);
    if (open_for(m, f))
        mux(m, f);
}
