/* SPDX-License-Identifier: MIT */
/* m3u8.c - the text of an HLS playlist, and its delta update. */
#include "base/must.h"
#include "sink/hls/segment/muxer.h"

#include <stdlib.h>
#include <string.h>

enum {
    LIST_MAX = 1 << 20,
    WITH_SKIP = 9, /* protocol version with EXT-X-SKIP and parts */
};

static struct m3u8_segment describe(const struct hls_segment *seg)
{
    struct m3u8_segment m = {
        .duration = seg->duration, .wall = seg->wall, .discontinuity = seg->discontinuity,
        .uri = seg->uri, .map = seg->init ? seg->init->uri : NULL,
        .key = seg->key ? seg->key->uri : NULL,
    };

    memcpy(m.iv, seg->iv, sizeof(m.iv));
    return m;
}

static void put_segment(struct wr *w, const struct hls_segment *seg, struct m3u8_segment *m,
                        const struct m3u8_segment *before, bool parts, bool whole)
{
    struct m3u8_part *v = NULL;

    if (parts && seg->n_parts > 0) {
        v = must(calloc(seg->n_parts, sizeof(*v)));
        for (size_t i = 0; i < seg->n_parts; i++)
            v[i] = (struct m3u8_part){ seg->parts[i].duration, seg->parts[i].independent,
                                       seg->parts[i].uri };
        m->parts = v;
        m->n_parts = seg->n_parts;
    }
    if (whole)
        m3u8_put(w, m, before);
    else
        m3u8_put_parts(w, m, before);
    m->parts = NULL;
    m->n_parts = 0;
    free(v);
}

/* Returns how many segments to list. On disk: up to the last written one; missing ones before it
 * are gaps. */
static size_t count_for(const struct hls_list *l, bool disk)
{
    size_t n = l->q.n;

    while (disk && n > 0 && !l->q.v[n - 1]->on_disk)
        n--;
    return n;
}

/* Returns true if the next segment begins with a discontinuity. With low latency the playlist must
 * say so before the segment begins: otherwise hls.js treats it as an error. */
static bool breaks(const struct hls_list *l)
{
    if (l->mux->now)
        return l->mux->now->n_parts == 0 && l->mux->now->discontinuity;
    return l->mux->segmenter.discontinuity || !l->info->live;
}

/* [HLS] bis 4.4.3.8: at least six target durations. */
static int64_t skip_until(const struct hls_list *l)
{
    return (int64_t)l->mux->segmenter.target * AV_CLOCK * 6;
}

/* Counts the segments at the start of the list that end before the skip boundary. */
static size_t count_skippable(const struct hls_list *l)
{
    int64_t behind = 0;
    size_t n = l->q.n;

    for (size_t i = 0; l->mux->now && i < l->mux->now->n_parts; i++)
        behind += l->mux->now->parts[i].duration;
    while (n > 0 && behind < skip_until(l))
        behind += l->q.v[--n]->duration;
    return n;
}

/* [HLS] bis 6.2.5.1: after skipped segments it repeats the initialization and the key, for players
 * that do not remember those of earlier segments. */
static struct m3u8_segment after_skipped(const struct hls_segment *last,
                                         const struct hls_segment *next)
{
    struct m3u8_segment m = describe(last);

    m.map = NULL;
    if (next && next->key)
        m.key = NULL;
    return m;
}

/* Returns the CAN-SKIP-UNTIL value, or 0. Without parts, only a playlist with skippable segments
 * has it, so that others stay compatible with old players. The disk cannot serve such requests. */
static int64_t told_skip(const struct hls_list *l, bool disk, bool parts)
{
    return !disk && (parts || count_skippable(l) > 0) ? skip_until(l) : 0;
}

/* Writes the segments after the skipped ones. */
static void put_list(struct hls_list *l, struct wr *w, bool disk, size_t skipped)
{
    bool parts = l->info->set.ll && !disk && l->mux->segmenter.part_target > 0;
    size_t n = count_for(l, disk);
    struct m3u8 head = {
        .version = parts || skipped > 0 ? WITH_SKIP : l->info->container->version,
        .target = l->mux->segmenter.target,
        .sequence = l->q.n > 0 ? l->q.v[0]->seq : l->mux->next_seq,
        .discontinuities = l->discontinuities,
        .part_target = parts ? l->mux->segmenter.part_target : 0,
        .skip_until = told_skip(l, disk, parts), .skipped = skipped,
    };
    struct m3u8_segment m[2];
    const struct m3u8_segment *before = NULL;
    char *hint = parts && l->mux->hint && l->info->live ? hls_uri(l->info, l->mux->hint) : NULL;

    head.hint = hint;
    head.breaks = parts && breaks(l);
    l->mux->segmenter.part_listed |= parts;
    m3u8_head(w, &head);
    if (skipped > 0) {
        m[1] = after_skipped(l->q.v[skipped - 1], skipped < n ? l->q.v[skipped] : l->mux->now);
        before = &m[1];
    }
    for (size_t i = skipped; i < n; i++) {
        struct m3u8_segment *one = &m[(i - skipped) & 1];

        *one = describe(l->q.v[i]);
        one->gap = disk && !l->q.v[i]->on_disk;
        put_segment(w, l->q.v[i], one, before, parts && i + HLS_WITH_PARTS >= n, true);
        before = one;
    }
    if (parts && l->mux->now && l->mux->now->n_parts > 0) {
        struct m3u8_segment *one = &m[(n - skipped) & 1];

        *one = describe(l->mux->now);
        put_segment(w, l->mux->now, one, before, true, false);
    }
    m3u8_tail(w, &head);
    free(hint);
}

void hls_m3u8_text(struct hls_list *l, struct wr *w, bool disk)
{
    put_list(l, w, disk, 0);
}

struct hls_file *hls_m3u8_update(struct hls_list *l)
{
    size_t skipped = l->playlist && !l->info->format->is_dash ? count_skippable(l) : 0;
    struct wr w;

    if (l->update || skipped == 0)
        return l->update;
    wr_init(&w, LIST_MAX);
    put_list(l, &w, false, skipped);
    if (!w.bad)
        l->update = hls_file_new(l->info->hls, &w, l->playlist->type);
    wr_free(&w);
    if (l->update)
        l->update->playlist = true;
    return l->update;
}
