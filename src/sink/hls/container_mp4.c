/* SPDX-License-Identifier: MIT */
/* container_mp4.c - segments of fragmented MP4 with all tracks: frames are collected, and written
 * as a fragment now and then. */
#include "sink/hls/stream.h"

#include <string.h>

const char *hls_mp4_file(const struct conf_hls *set)
{
    return set->fmp4_file;
}

bool hls_mp4_is_begun(const struct hls_stream *s, const struct mp4_part *track)
{
    return s->init || track->n > 0;
}

err_t hls_mp4_configure(struct hls_stream *s, const struct frame *f)
{
    (void)s;
    (void)f;
    return NULL; /* the track knows it */
}

static void begin(struct hls_stream *s)
{
    (void)s;
}

err_t hls_mp4_add(struct hls_stream *s, const struct frame *f)
{
    bool changed;

    return mp4_frag_add(&s->mp4, f, &changed);
}

static struct hls_shared *new_init(struct hls_stream *s, struct wr *header)
{
    struct hls_shared *x = hls_shared_new(s, s->set.path, s->set.init_file, s->now->seq, false);

    s->other_inits = true;
    x->file = hls_file_new(s->hls, header, "video/mp4");
    hls_names_set(s->hls, x->path, x->file, s);
    hls_disk_shared(s, x);
    return x;
}

/* A publisher that comes back with the same codecs needs no other initialization. */
static void make_init(struct hls_stream *s)
{
    struct hls_shared *last = s->last_init;
    struct wr w;

    if (s->init)
        return;
    wr_init(&w, MP4_CONFIG_MAX * 2);
    mp4_frag_header(&s->mp4, &w);
    if (last && last->file->size == w.len && memcmp(last->file->data, w.buf, w.len) == 0) {
        s->init = hls_shared_ref(last);
    } else {
        s->init = new_init(s, &w);
        hls_shared_unref(s, last);
        s->last_init = hls_shared_ref(s->init);
    }
    wr_free(&w);
}

static void part(struct hls_stream *s, int64_t end)
{
    size_t from = blocks_len(&s->out);

    if (mp4_frag_is_empty(&s->mp4))
        return;
    make_init(s);
    if (!s->now->init)
        s->now->init = hls_shared_ref(s->init);
    mp4_frag_cut(&s->mp4, end, from == 0, &s->out);
    if (s->ll)
        hls_part_add(s, end, from);
}

static bool end(struct hls_stream *s, int64_t at, struct hls_segment **second)
{
    (void)second;
    part(s, at);
    return hls_segment_whole(s, at);
}

const struct hls_container hls_container_mp4 = {
    .name = "MP4", .type = "video/iso.segment", .version = 7, .parts = SEGMENTER_FRAGMENTS,
    .inits = true, .file = hls_mp4_file, .takes = mp4_track_takes, .is_begun = hls_mp4_is_begun,
    .configure = hls_mp4_configure, .open = begin, .add = hls_mp4_add, .part = part, .close = end,
};
