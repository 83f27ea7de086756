/* SPDX-License-Identifier: MIT */
/* cut.c - frames to segments: what the segmenter says, done with their bytes. */
#include "base/log.h"
#include "base/pace.h"
#include "sink/hls/stream.h"

/* Whatever a publisher sends, and however often it comes back: over this rate segments and parts
 * become longer, and what needs another segment at once is left out. Streams that are sent faster
 * than they play stay below it. */
static const struct pace segments = { CO_MS(250), 40 }, parts = { CO_MS(20), 400 };

static bool is_full(const struct hls_stream *s)
{
    return s->out.w.bad || blocks_len(&s->out) + mp4_frag_bytes(&s->mp4) > hls_most(s);
}

static void left_out(struct hls_stream *s, err_t err)
{
    if (s->bad++ == 0)
        log_end("HLS or DASH: a frame left out, more are only counted", &err);
    err_free(&err);
}

/* Another decoder configuration: what was made so far ends here, if there is any. */
static void reconfigure(struct hls_stream *s, const struct frame *f)
{
    const struct mp4_part *mine = f->kind == AV_VIDEO ? &s->mp4.video : &s->mp4.audio;

    if (!mp4_frag_changes(&s->mp4, f) || !s->container->is_begun(s, mine))
        return;
    s->segmenter.discontinuity = true;
    if (s->now)
        hls_segment_close(s, segmenter_end(&s->segmenter));
    hls_shared_unref(s, s->init);
    s->init = NULL;
}

static void configure(struct hls_stream *s, const struct frame *f)
{
    struct mp4_track *t = f->kind == AV_VIDEO ? &s->mp4.video.track : &s->mp4.audio.track;
    bool changed;
    err_t err;

    if (s->begun)
        reconfigure(s, f);
    if (f->kind == AV_VIDEO)
        s->segmenter.has_video = true;
    err = mp4_track_set(t, f, &changed);
    if (!err)
        err = s->container->configure(s, f);
    if (err)
        left_out(s, err);
}

static void mux(struct hls_stream *s, const struct frame *f)
{
    err_t err = s->container->add(s, f);

    if (err)
        left_out(s, err);
    hls_seal(s);
}

static void log_codec(struct hls_stream *s, const struct frame *f)
{
    bool *logged = &s->logged_codec[f->kind == AV_VIDEO ? 0 : 1];

    if (!*logged)
        log_warn("%s: %s does not go into %s, it is left out%s", s->name,
                 av_codec_name(f->codec), s->container->name,
                 mp4_track_takes(f->codec) ? ": set hls_use_fmp4 on" : "");
    *logged = true;
}

static unsigned how_to_go_on(const struct hls_stream *s)
{
    co_usec now = co_now();
    unsigned how = s->now && is_full(s) ? SEGMENTER_FULL : 0;

    if (!pace_allows(&segments, s->segments_full_at, now))
        how |= SEGMENTER_NO_END;
    if (s->ll && !pace_allows(&parts, s->parts_full_at, now))
        how |= SEGMENTER_NO_PART;
    return how;
}

/* False: there were too many in a short time, the stream goes on with a later frame. */
static bool begin(struct hls_stream *s, const struct frame *f)
{
    if (!pace_take(&segments, &s->segments_full_at, co_now())) {
        s->segmenter.discontinuity = true;
        mp4_frag_jump(&s->mp4);
        return false;
    }
    hls_segment_open(s, f);
    return true;
}

/* The frame's segment is there and open. False: it is of none. */
static bool place(struct hls_stream *s, const struct frame *f)
{
    enum segmenter_todo todo;

    while ((todo = segmenter_next(&s->segmenter, f, how_to_go_on(s))) != SEGMENTER_ADD) {
        if (todo == SEGMENTER_SKIP || (todo == SEGMENTER_BEGIN && !begin(s, f)))
            return false;
        if (todo == SEGMENTER_END) {
            hls_segment_close(s, f->dts);
        } else if (todo == SEGMENTER_PART) {
            (void)pace_take(&parts, &s->parts_full_at, co_now());
            hls_part_end(s, f->dts);
        }
    }
    return true;
}

void hls_frame(struct hls_stream *s, struct frame *f)
{
    if (!s->container->takes(f->codec)) {
        log_codec(s, f);
        return;
    }
    if (f->config) {
        configure(s, f);
        return;
    }
    segmenter_time(&s->segmenter, f);
    if (av_codec_frames_configure(f->codec))
        configure(s, f);
    if (place(s, f))
        mux(s, f);
}
