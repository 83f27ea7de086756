/* SPDX-License-Identifier: MIT */
/* container_ts.c - segments of MPEG-TS: writes each frame immediately. */
#include "sink/hls/segment/muxer.h"

static const char *file(const struct conf_hls *set)
{
    return set->ts_file;
}

/* A track that joins at the start of a segment is only late: the tables describe it. */
static bool is_begun(const struct hls_muxer *m, const struct mp4_part *track)
{
    bool young = !track->track.codec && segmenter_is_young(&m->segmenter);

    return !young && (m->now || m->list->q.n > 0);
}

static void begin(struct hls_muxer *m)
{
    ts_mux_restart(&m->ts);
}

static err_t add(struct hls_muxer *m, const struct frame *f)
{
    m->ts.clock.loose = !m->info->set.dts_directly;
    return ts_mux_frame(&m->ts, f, &m->out.w);
}

/* Codecs with in-band configuration need no configuration here. */
static err_t configure(struct hls_muxer *m, const struct frame *f)
{
    return f->config ? ts_mux_frame(&m->ts, f, &m->out.w) : NULL;
}

static bool end(struct hls_muxer *m, int64_t at, struct hls_segment **second)
{
    (void)second;
    ts_mux_flush(&m->ts, &m->out.w);
    return hls_segment_whole(m, at);
}

const struct hls_container hls_container_ts = {
    .name = "MPEG-TS", .type = "video/mp2t", .version = 3, .parts = SEGMENTER_WHOLE,
    .file = file, .takes = ts_mux_takes, .is_begun = is_begun, .configure = configure,
    .open = begin, .add = add, .close = end,
};
