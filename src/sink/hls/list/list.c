/* SPDX-License-Identifier: MIT */
/* list.c - the segments of a playlist, and those that stay for a while after they left it. */
#include "sink/hls/segment/muxer.h"

#include "live/evictable.h"

#include <string.h>

enum { LIST_MAX = 1 << 20, DISK_MAX = 4 << 20, MOST_MIN = 32 };

size_t hls_most(const struct hls_info *info)
{
    size_t share = live_evictable_share(live_registry_memory(info->hls->env->streams));

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

static void remove_first(struct hls_list *l)
{
    struct hls_segment *seg = pop(&l->q);

    if (seg->discontinuity)
        l->discontinuities++;
    hls_push(&l->expired, seg);
}

/* Limits the number of segments. Only a stream whose codec configuration changes with every frame,
 * and so has a segment per frame, reaches it. */
static size_t most(const struct hls_list *l, int64_t window)
{
    int64_t fragment = av_from_us(l->info->set.fragment);

    return (size_t)(window / (fragment > 0 ? fragment : AV_MS(1)) * 4) + MOST_MIN;
}

/* [HLS] 6.2.2: a segment that left the playlist stays available for the duration of the playlist.
 * */
static void remove_expired(struct hls_list *l, size_t max)
{
    int64_t left = total(&l->expired), lasts = total(&l->q);

    while (l->expired.n > 0 && (l->expired.n > max || left - l->expired.v[0]->duration >= lasts)) {
        struct hls_segment *seg = pop(&l->expired);

        left -= seg->duration;
        hls_segment_remove(l->store, seg);
    }
}

/* Keeps the newest `added` files regardless of their size, because they are not on disk yet. */
static void trim(struct hls_list *l, size_t added)
{
    int64_t lasts = total(&l->q);
    int64_t window = l->info->format->window(l);
    size_t max = most(l, window);

    while (l->q.n > HLS_LIST_MIN &&
           (l->q.n > max || lasts - l->q.v[0]->duration >= window)) {
        lasts -= l->q.v[0]->duration;
        remove_first(l);
    }
    while (l->store->in_memory > hls_most(l->info) && l->q.n > added)
        remove_first(l);
    while (l->store->in_memory > hls_most(l->info) && l->expired.n > 0)
        hls_segment_remove(l->store, pop(&l->expired));
    remove_expired(l, max);
}

/* Removes old parts: only players at the live edge need them, and older segments are on disk. */
static void forget_old(struct hls_list *l)
{
    for (size_t i = 0; l->info->set.ll && i + HLS_WITH_PARTS < l->q.n; i++) {
        if (l->q.v[i]->on_disk)
            hls_segment_forget(l->store, l->q.v[i]);
    }
}

void hls_list_add(struct hls_list *l, struct hls_segment *seg, struct hls_segment *second)
{
    hls_push(&l->q, seg);
    if (second)
        hls_push(&l->q, second);
    trim(l, second ? 2 : 1);
    forget_old(l);
    hls_list_publish(l);
}

/* ------------------------------------------------------------ in memory */

void hls_list_wake(struct hls_list *l)
{
    struct hls_waiter *w = l->waiters;

    l->waiters = NULL;
    while (w) {
        struct hls_waiter *next = w->next;

        co_unpark(w->co);
        w = next;
    }
}

/* Updates the journal. */
static void note(struct hls_list *l)
{
    const struct segmenter *g = &l->mux->segmenter;

    l->store->record.now = (struct journal_list){
        .first = l->q.n > 0 ? l->q.v[0]->seq : l->mux->next_seq,
        .discontinuities = l->discontinuities, .target = g->target, .available = g->available,
    };
}

void hls_list_publish(struct hls_list *l)
{
    struct hls_file *old = l->playlist;
    struct wr w;

    note(l);
    if (l->q.n == 0)
        return;
    wr_init(&w, LIST_MAX);
    l->info->format->list(l, &w, false);
    if (w.bad) { /* too long for memory, such as a window of days; the disk has it */
        wr_free(&w);
        return;
    }
    l->playlist = hls_file_new(l->info->hls, &w, l->info->format->type);
    l->playlist->playlist = true;
    hls_names_set(l->info, l->info->m3u8_path, l->playlist);
    (void)hls_file_unref(old);
    l->update = hls_file_unref(l->update);
    hls_list_wake(l);
}

void hls_list_clear(struct hls_list *l)
{
    while (l->q.n > 0)
        remove_first(l);
    while (l->expired.n > 0)
        hls_segment_remove(l->store, pop(&l->expired));
    segmenter_forget(&l->mux->segmenter);
    note(l);
}

/* ------------------------------------------------------------ on disk */

/* If the disk is far behind, its old playlist is better than an empty one. */
static bool has_written(const struct hls_list *l)
{
    size_t n = l->q.n;

    while (n > 0 && !l->q.v[n - 1]->on_disk)
        n--;
    return n > 0;
}

void hls_list_write(struct hls_list *l)
{
    struct hls_file *file;
    struct wr w;

    l->changed = l->writing;
    if (l->writing || !has_written(l))
        return;
    wr_init(&w, DISK_MAX);
    l->info->format->list(l, &w, true);
    if (w.bad) {
        wr_free(&w);
        return;
    }
    note(l);
    file = hls_file_new(l->info->hls, &w, "");
    l->writing = true;
    l->swapped = l->info->live;
    hls_disk_list(l->store, file, l->swapped);
    (void)hls_file_unref(file);
}

void hls_list_written(struct hls_list *l)
{
    l->writing = false;
    if (l->changed)
        hls_list_write(l);
}

bool hls_list_again(struct hls_list *l)
{
    bool is_left = false;

    for (size_t i = 0; i < l->q.n; i++) {
        struct hls_segment *seg = l->q.v[i];

        if (seg->failed && seg->file && !seg->on_disk)
            hls_disk_segment(l->store, seg);
        is_left |= seg->file && !seg->on_disk;
    }
    if (!is_left && l->store->record.whole)
        hls_list_write(l);
    return is_left;
}

/* ------------------------------------------------------------ when memory is short */

static size_t idle_bytes(const struct hls_segment *seg)
{
    size_t bytes = seg->file && !seg->writing ? seg->file->size : 0;

    for (size_t i = 0; !seg->writing && i < seg->n_parts; i++)
        bytes += seg->parts[i].file->size;
    return bytes;
}

/* Returns how many segments may be dropped: all but the newest, which players need while the stream
 * is live. */
static size_t losable(const struct hls_list *l)
{
    return l->q.n - (l->info->live && l->q.n > 0);
}

size_t hls_list_idle(const struct hls_list *l)
{
    size_t bytes = 0;

    for (size_t i = 0; i < losable(l); i++)
        bytes += idle_bytes(l->q.v[i]);
    for (size_t i = 0; i < l->expired.n; i++)
        bytes += idle_bytes(l->expired.v[i]);
    return bytes;
}

void hls_list_lose(struct hls_list *l)
{
    size_t n = losable(l), i = 0;

    while (n > 0 && (l->q.v[n - 1]->on_disk || idle_bytes(l->q.v[n - 1]) == 0))
        n--; /* on disk, or being written */
    while (n-- > 0)
        remove_first(l);
    for (size_t k = 0; k < losable(l); k++) {
        if (idle_bytes(l->q.v[k]) > 0)
            hls_segment_forget(l->store, l->q.v[k]);
    }
    while (i < l->expired.n) {
        struct hls_segment *seg = l->expired.v[i];

        if (idle_bytes(seg) == 0) {
            i++;
        } else if (seg->on_disk) {
            hls_segment_forget(l->store, seg);
        } else {
            memmove(l->expired.v + i, l->expired.v + i + 1,
                    (--l->expired.n - i) * sizeof(l->expired.v[0]));
            hls_segment_remove(l->store, seg);
        }
    }
    hls_list_publish(l);
}
