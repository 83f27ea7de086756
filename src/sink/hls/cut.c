/* SPDX-License-Identifier: MIT */
/* cut.c - frames to segments: where one ends and the next begins. */
#include "base/log.h"
#include "sink/hls/stream.h"

#define SLACK AV_MS(100)     /* a key frame so much before its time is in time */
#define GAP AV_MS(5000)      /* a pause that may be one frame; hls_fragment if that is more */
#define FRAGMENT AV_MS(1000)
#define YOUNG AV_MS(1000)
#define VIDEO_GONE AV_MS(2000)

static int64_t ticks(int64_t usec)
{
    return usec * 9 / 100;
}

static int64_t fragment(const struct hls_stream *s)
{
    return ticks(s->set->fragment);
}

static bool takes(const struct hls_stream *s, enum av_codec codec)
{
    return s->fmp4 ? mp4_track_takes(codec) : ts_mux_takes(codec);
}

/* Is there video, and does it still come? A camera that was turned off leaves audio alone. */
static bool has_video(const struct hls_stream *s, int64_t now)
{
    int64_t patience = fragment(s) > VIDEO_GONE ? fragment(s) : VIDEO_GONE;

    return s->has_video && (!s->time.seen[0] || now - s->time.last[0] <= patience);
}

/* Would the next key frame come too late for the target duration that was told? */
static bool next_is_late(const struct hls_stream *s, int64_t lasts)
{
    return s->list.n > 0 && s->key_interval > 0 && lasts >= fragment(s) / 2 &&
           m3u8_seconds(lasts + s->key_interval) > s->target;
}

static bool video_ends_it(const struct hls_stream *s, const struct frame *f, int64_t lasts)
{
    int64_t slack = !f->key ? 0 : fragment(s) / 4 < SLACK ? fragment(s) / 4 : SLACK;

    if (!f->key && s->set->wait_keyframe)
        return false;
    if (s->set->ts_floor && s->set->fragment >= 1000) {
        int64_t wall = s->time.wall_base + f->dts / 90;

        return wall / (s->set->fragment / 1000) > s->floor;
    }
    return lasts >= fragment(s) - slack || (f->key && next_is_late(s, lasts));
}

static bool ends_it(struct hls_stream *s, const struct frame *f)
{
    int64_t lasts = f->dts - s->now->begin;

    if (s->out.w.bad || blocks_len(&s->out) + mp4_frag_bytes(&s->mp4) > hls_most(s))
        return true;
    if (f->kind == AV_VIDEO)
        return video_ends_it(s, f, lasts);
    if (has_video(s, f->dts))
        return false;
    return (double)lasts >= (double)fragment(s) * s->set->aof_ratio;
}

/* A part of low latency: would another frame make it longer than what was told? Else a fragment
 * of the segment: they keep little in the muxer. */
static bool part_ends(const struct hls_stream *s, const struct frame *f)
{
    int64_t usual = s->time.usual[f->kind == AV_VIDEO ? 0 : 1];
    int64_t lasts = f->dts - s->part_begin;

    if (s->dash || !s->part_open || (f->kind == AV_AUDIO && has_video(s, f->dts)))
        return false;
    if (!s->ll)
        return lasts >= FRAGMENT;
    if (s->part_told)
        return lasts + usual > s->part_target;
    return lasts + usual / 2 > ticks(s->set->part);
}

static bool may_begin(struct hls_stream *s, const struct frame *f)
{
    if (s->waiting_at < 0)
        s->waiting_at = f->dts;
    if (!s->set->wait_keyframe || !s->has_video)
        return true;
    if (f->kind == AV_VIDEO)
        return f->key;
    return f->dts - s->waiting_at > fragment(s) + VIDEO_GONE && !has_video(s, f->dts);
}

static void note_key(struct hls_stream *s, const struct frame *f)
{
    s->has_video = true;
    if (!f->key)
        return;
    if (s->key_at >= 0)
        s->key_interval = f->dts - s->key_at;
    s->key_at = f->dts;
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
    bool young = !mine->track.codec && s->open && hls_time_end(&s->time) - s->now->begin < YOUNG;
    bool started = s->fmp4 ? s->init || mine->n > 0 : !young && (s->open || s->list.n > 0);

    if (!mp4_frag_changes(&s->mp4, f) || !started)
        return;
    s->discontinuity = true;
    if (s->open)
        hls_segment_close(s, hls_time_end(&s->time));
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
        s->has_video = true;
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
    if (s->fmp4 && !s->part_open) {
        s->part_open = true;
        s->part_begin = f->dts;
        s->part_independent = f->kind == AV_AUDIO || f->key;
    }
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
    hls_time_apply(&s->time, f, fragment(s) > GAP ? fragment(s) : GAP);
    if (f->kind == AV_VIDEO)
        note_key(s, f);
    if (f->codec == AV_MP3 || f->codec == AV_VP9)
        configure(s, f); /* their frames tell it */
    if (s->open && ends_it(s, f))
        hls_segment_close(s, f->dts);
    if (!s->open) {
        if (!may_begin(s, f))
            return;
        s->waiting_at = f->dts;
        hls_segment_open(s, f);
    } else if (part_ends(s, f)) {
        hls_part_end(s, f->dts);
    }
    mux(s, f);
}
