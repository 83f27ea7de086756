/* SPDX-License-Identifier: MIT */
/* container_ts.c - segments of MPEG-TS: each frame goes into the bytes at once. */
#include "sink/hls/stream.h"

static const char *file(const struct conf_hls *set)
{
    return set->ts_file;
}

/* A track that joins at the begin of a segment is just late: the tables say it. */
static bool is_begun(const struct hls_stream *s, const struct mp4_part *track)
{
    bool young = !track->track.codec && segmenter_is_young(&s->segmenter);

    return !young && (s->now || s->list.n > 0);
}

static void begin(struct hls_stream *s)
{
    ts_mux_restart(&s->ts);
}

static err_t add(struct hls_stream *s, const struct frame *f)
{
    s->ts.clock.loose = !s->set.dts_directly;
    return ts_mux_frame(&s->ts, f, &s->out.w);
}

/* Codecs that say it in each frame have nothing to be configured. */
static err_t configure(struct hls_stream *s, const struct frame *f)
{
    return f->config ? ts_mux_frame(&s->ts, f, &s->out.w) : NULL;
}

static bool end(struct hls_stream *s, int64_t at, struct hls_segment **second)
{
    (void)second;
    ts_mux_flush(&s->ts, &s->out.w);
    return hls_segment_whole(s, at);
}

const struct hls_container hls_container_ts = {
    .name = "MPEG-TS", .type = "video/mp2t", .version = 3, .parts = SEGMENTER_WHOLE,
    .file = file, .takes = ts_mux_takes, .is_begun = is_begun, .configure = configure,
    .open = begin, .add = add, .close = end,
};
