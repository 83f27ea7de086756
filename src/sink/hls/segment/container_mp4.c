/* SPDX-License-Identifier: MIT */
/* container_mp4.c - segments of fragmented MP4 with all tracks: collects frames and writes them as
 * fragments. */
#include "sink/hls/segment/muxer.h"

#include <string.h>

const char *hls_mp4_file(const struct conf_hls *set)
{
    return set->fmp4_file;
}

bool hls_mp4_is_begun(const struct hls_muxer *m, const struct mp4_part *track)
{
    return m->init || track->n > 0;
}

err_t hls_mp4_add(struct hls_muxer *m, const struct frame *f)
{
    bool changed;

    return mp4_frag_add(&m->mp4, f, &changed);
}

static struct hls_shared *new_init(struct hls_muxer *m, struct wr *header)
{
    struct hls_numbers n = hls_segment_numbers(m);
    struct hls_shared *x = hls_shared_new(m->store, m->info->set.init_file, &n, false);

    m->store->other_inits = true;
    hls_shared_fill(m->store, x, header, "video/mp4");
    return x;
}

/* A returning publisher with the same codecs uses the same init segment. */
static void make_init(struct hls_muxer *m)
{
    struct hls_shared *last = m->last_init;
    struct wr w;

    if (m->init)
        return;
    wr_init(&w, MP4_CONFIG_MAX * 2);
    mp4_frag_header(&m->mp4, &w);
    if (last && last->file->size == w.len && memcmp(last->file->data, w.buf, w.len) == 0) {
        m->init = hls_shared_ref(last);
    } else {
        m->init = new_init(m, &w);
        hls_shared_unref(m->store, last);
        m->last_init = hls_shared_ref(m->init);
    }
    wr_free(&w);
}

static void part(struct hls_muxer *m, int64_t end)
{
    size_t from = blocks_len(&m->out);

    if (mp4_frag_is_empty(&m->mp4))
        return;
    make_init(m);
    if (!m->now->init)
        m->now->init = hls_shared_ref(m->init);
    mp4_frag_cut(&m->mp4, end, from == 0, &m->out);
    if (m->info->set.ll)
        hls_part_add(m, end, from);
}

static bool end(struct hls_muxer *m, int64_t at, struct hls_segment **second)
{
    (void)second;
    part(m, at);
    return hls_segment_whole(m, at);
}

const struct hls_container hls_container_mp4 = {
    .name = "MP4", .type = "video/iso.segment", .version = 7, .parts = SEGMENTER_FRAGMENTS,
    .inits = true, .file = hls_mp4_file, .takes = mp4_track_takes, .is_begun = hls_mp4_is_begun,
    .add = hls_mp4_add, .part = part, .close = end,
};
