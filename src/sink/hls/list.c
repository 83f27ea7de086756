/* SPDX-License-Identifier: MIT */
/* list.c - the playlist: which segments it has, and which stay a while after they left it. */
#include "sink/hls/stream.h"

#include "base/must.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 1 << 20, MOST_MIN = 32 };

size_t hls_most(const struct hls_stream *s)
{
    size_t share = live_keeper_share(live_registry_memory(s->hls->env->streams));

    return share < HLS_SEGMENT_MAX ? share : HLS_SEGMENT_MAX;
}

static struct hls_segment *pop(struct hls_segments *q)
{
    struct hls_segment *seg = q->v[0];

    memmove(q->v, q->v + 1, --q->n * sizeof(q->v[0]));
    return seg;
}

static int64_t total(const struct hls_segments *q)
{
    int64_t sum = 0;

    for (size_t i = 0; i < q->n; i++)
        sum += q->v[i]->duration;
    return sum;
}

static void remove_first(struct hls_stream *s)
{
    struct hls_segment *seg = pop(&s->list);

    if (seg->discontinuity)
        s->discontinuities++;
    hls_push(&s->expired, seg);
}

/* So many segments fill the window several times over, unless a stream has another configuration
 * with every frame and so a segment of each. */
static size_t most(const struct hls_stream *s, int64_t window)
{
    int64_t fragment = av_from_us(s->set.fragment);

    return (size_t)(window / (fragment > 0 ? fragment : AV_MS(1)) * 4) + MOST_MIN;
}

/* [HLS] 6.2.2: what left the list can be fetched for as long as the list that had it lasts. */
static void bury_old(struct hls_stream *s, size_t max)
{
    int64_t left = total(&s->expired), lasts = total(&s->list);

    while (s->expired.n > 0 && (s->expired.n > max || left - s->expired.v[0]->duration >= lasts)) {
        struct hls_segment *seg = pop(&s->expired);

        left -= seg->duration;
        hls_segment_remove(s, seg);
    }
}

/* The newest `added` files stay, whatever their size: they have not gone to the disk yet. */
static void trim(struct hls_stream *s, size_t added)
{
    int64_t lasts = total(&s->list);
    int64_t window = s->kind->window(s);
    size_t max = most(s, window);

    while (s->list.n > HLS_LIST_MIN &&
           (s->list.n > max || lasts - s->list.v[0]->duration >= window)) {
        lasts -= s->list.v[0]->duration;
        remove_first(s);
    }
    while (s->in_memory > hls_most(s) && s->list.n > added)
        remove_first(s);
    while (s->in_memory > hls_most(s) && s->expired.n > 0)
        hls_segment_remove(s, pop(&s->expired));
    bury_old(s, max);
}

/* Parts are for players at the edge; older segments are on disk. */
static void forget_old(struct hls_stream *s)
{
    for (size_t i = 0; s->ll && i + HLS_WITH_PARTS < s->list.n; i++) {
        if (s->list.v[i]->on_disk)
            hls_segment_forget(s, s->list.v[i]);
    }
}

void hls_list_add(struct hls_stream *s, struct hls_segment *seg, struct hls_segment *second)
{
    hls_push(&s->list, seg);
    if (second)
        hls_push(&s->list, second);
    trim(s, second ? 2 : 1);
    forget_old(s);
    hls_list_publish(s);
}

/* ------------------------------------------------------------ in memory */

void hls_list_publish(struct hls_stream *s)
{
    struct hls_file *old = s->playlist;
    struct wr w;

    if (s->list.n == 0)
        return;
    wr_init(&w, LIST_MAX);
    s->kind->list(s, &w, false);
    if (w.bad) { /* a window of days: the disk has it */
        wr_free(&w);
        return;
    }
    s->playlist = hls_file_new(s->hls, &w, s->kind->type);
    s->playlist->playlist = true;
    hls_names_set(s->hls, s->m3u8_path, s->playlist, s);
    (void)hls_file_unref(old);
    s->update = hls_file_unref(s->update);
    hls_wake(s);
}

void hls_list_clear(struct hls_stream *s)
{
    while (s->list.n > 0)
        remove_first(s);
    while (s->expired.n > 0)
        hls_segment_remove(s, pop(&s->expired));
    segmenter_forget(&s->segmenter);
}

/* ------------------------------------------------------------ when memory is short */

static size_t idle_bytes(const struct hls_segment *seg)
{
    size_t bytes = seg->file && !seg->writing ? seg->file->size : 0;

    for (size_t i = 0; !seg->writing && i < seg->n_parts; i++)
        bytes += seg->parts[i].file->size;
    return bytes;
}

/* So many of the list may be lost: players are at the newest one, while there will be more. */
static size_t losable(const struct hls_stream *s)
{
    return s->list.n - (s->live && s->list.n > 0);
}

size_t hls_list_idle(const struct hls_stream *s)
{
    size_t bytes = 0;

    for (size_t i = 0; i < losable(s); i++)
        bytes += idle_bytes(s->list.v[i]);
    for (size_t i = 0; i < s->expired.n; i++)
        bytes += idle_bytes(s->expired.v[i]);
    return bytes;
}

void hls_list_lose(struct hls_stream *s)
{
    size_t n = losable(s), i = 0;

    while (n > 0 && (s->list.v[n - 1]->on_disk || idle_bytes(s->list.v[n - 1]) == 0))
        n--; /* what stays is on disk, or will be */
    while (n-- > 0)
        remove_first(s);
    for (size_t k = 0; k < losable(s); k++) {
        if (idle_bytes(s->list.v[k]) > 0)
            hls_segment_forget(s, s->list.v[k]);
    }
    while (i < s->expired.n) {
        struct hls_segment *seg = s->expired.v[i];

        if (idle_bytes(seg) == 0) {
            i++;
        } else if (seg->on_disk) {
            hls_segment_forget(s, seg);
        } else {
            memmove(s->expired.v + i, s->expired.v + i + 1,
                    (--s->expired.n - i) * sizeof(s->expired.v[0]));
            hls_segment_remove(s, seg);
        }
    }
    hls_list_publish(s);
}
