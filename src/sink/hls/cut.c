/* SPDX-License-Identifier: MIT */
/* cut.c - frames to segments: what the segmenter says, done with their bytes. */
#include "base/log.h"
#include "sink/hls/stream.h"

static bool takes(const struct hls_stream *s, enum av_codec codec)
{
    return s->fmp4 ? mp4_track_takes(codec) : ts_mux_takes(codec);
}

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

/* Another decoder configuration: what was made so far ends here, if there is any. A track that
 * joins at the begin of a segment is just late: tables say it, and no initialization is there. */
static void reconfigure(struct hls_stream *s, const struct frame *f)
{
    const struct mp4_part *mine = f->kind == AV_VIDEO ? &s->mp4.video : &s->mp4.audio;
    bool young = !mine->track.codec && segmenter_is_young(&s->segmenter);
    bool started = s->fmp4 ? s->init || mine->n > 0 : !young && (s->now || s->list.n > 0);

    if (!mp4_frag_changes(&s->mp4, f) || !started)
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
    if (!err && !s->fmp4 && f->config)
        err = ts_mux_frame(&s->ts, f, &s->out.w);
    if (err)
        left_out(s, err);
}

static void mux(struct hls_stream *s, const struct frame *f)
{
    bool changed;
    err_t err;

    s->ts.clock.loose = !s->set->dts_directly;
    if (s->fmp4)
        err = mp4_frag_add(&s->mp4, f, &changed);
    else
        err = ts_mux_frame(&s->ts, f, &s->out.w);
    if (err)
        left_out(s, err);
    hls_seal(s);
}

static void tell_codec(struct hls_stream *s, const struct frame *f)
{
    bool *told = &s->told_codec[f->kind == AV_VIDEO ? 0 : 1];

    if (!*told)
        log_warn("%s of %s/%s: %s does not go into %s, it is left out%s", s->what, s->app,
                 s->stream, av_codec_name(f->codec), s->fmp4 ? "MP4" : "MPEG-TS",
                 !s->fmp4 && mp4_track_takes(f->codec) ? ": set hls_use_fmp4 on" : "");
    *told = true;
}

/* The frame's segment is there and open. False: it is of none. */
static bool place(struct hls_stream *s, const struct frame *f)
{
    enum segmenter_todo todo;

    while ((todo = segmenter_next(&s->segmenter, f, s->now && is_full(s))) != SEGMENTER_ADD) {
        if (todo == SEGMENTER_SKIP)
            return false;
        if (todo == SEGMENTER_END)
            hls_segment_close(s, f->dts);
        else if (todo == SEGMENTER_BEGIN)
            hls_segment_open(s, f);
        else
            hls_part_end(s, f->dts);
    }
    return true;
}

void hls_frame(struct hls_stream *s, struct frame *f)
{
    if (!takes(s, f->codec)) {
        tell_codec(s, f);
        return;
    }
    if (f->config) {
        configure(s, f);
        return;
    }
    segmenter_time(&s->segmenter, f);
    if (f->codec == AV_MP3 || f->codec == AV_VP9)
        configure(s, f); /* their frames tell it */
    if (place(s, f))
        mux(s, f);
}
