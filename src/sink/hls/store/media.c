/* SPDX-License-Identifier: MIT */
/* media.c - segments and the files that segments share, in memory and on disk, until they are no
 * longer needed. */
#include "sink/hls/format.h"
#include "sink/hls/store/store.h"

#include "base/must.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ init segments and keys */

struct hls_shared *hls_shared_at(struct hls_store *s, char *path, bool key)
{
    struct hls_shared *x = must(calloc(1, sizeof(*x)));

    ref_init(&x->ref);
    x->secret = key;
    x->path = path;
    x->uri = key ? hls_key_uri(s->info, path) : hls_uri(s->info, path);
    return x;
}

struct hls_shared *hls_shared_new(struct hls_store *s, const char *text,
                                  const struct hls_numbers *numbers, bool key)
{
    const struct conf_hls *set = &s->info->set;
    char path[HLS_NAME_MAX];
    const char *dot;
    int n;
    err_t err = hls_name(s->info, key ? set->key_file_path : set->path, text, numbers, path);

    err_free(&err); /* cannot fail: the names were valid when the stream started */
    if (key || !s->other_inits)
        return hls_shared_at(s, must_dup(path), key);
    dot = strrchr(path, '.'); /* init.mp4 is in use: takes init-5.mp4 */
    n = dot ? (int)(dot - path) : (int)strlen(path);
    return hls_shared_at(s, must_print("%.*s-%llu%s", n, path, (unsigned long long)numbers->seq,
                                       path + n), false);
}

void hls_shared_fill(struct hls_store *s, struct hls_shared *x, struct wr *take, const char *type)
{
    x->file = hls_file_new(s->info->hls, take, type);
    hls_names_set(s->info, x->path, x->file);
    hls_disk_shared(s, x);
}

struct hls_shared *hls_shared_ref(struct hls_shared *x)
{
    if (x)
        ref_get(&x->ref);
    return x;
}

/* Removes the file with the last segment that needs it. */
void hls_shared_unref(struct hls_store *s, struct hls_shared *x)
{
    if (!x || !ref_put(&x->ref))
        return;
    if (x->file) {
        hls_names_drop(s->info->hls, x->path, x->file);
        (void)hls_file_unref(x->file);
    }
    if (x->path && (s->info->set.cleanup || s->info->disposing))
        hls_disk_remove(s, x->path);
    hls_record_forget(s, &x->entry);
    free(x->path);
    free(x->uri);
    free(x);
}

/* ------------------------------------------------------------ segments */

void hls_push(struct hls_segments *q, struct hls_segment *seg)
{
    q->v = must_room(q->v, q->n, &q->cap, sizeof(q->v[0]));
    q->v[q->n++] = seg;
}

static void drop_parts(struct hls_store *s, struct hls_segment *seg)
{
    for (size_t i = 0; i < seg->n_parts; i++) {
        struct hls_part *p = &seg->parts[i];

        hls_names_drop(s->info->hls, p->path, p->file);
        (void)hls_file_unref(p->file);
        free(p->path);
        free(p->uri);
    }
    free(seg->parts);
    seg->parts = NULL;
    seg->n_parts = 0;
}

void hls_segment_fill(struct hls_store *s, struct hls_segment *seg, struct blocks *take)
{
    seg->bytes = blocks_len(take);
    seg->file = hls_file_of(s->info->hls, take, s->info->container->type);
    s->in_memory += seg->file->blocks.memory;
    hls_names_set(s->info, seg->path, seg->file);
}

void hls_segment_forget(struct hls_store *s, struct hls_segment *seg)
{
    drop_parts(s, seg);
    if (!seg->file)
        return;
    s->in_memory -= seg->file->blocks.memory;
    hls_names_drop(s->info->hls, seg->path, seg->file);
    seg->file = hls_file_unref(seg->file);
}

void hls_segment_free(struct hls_store *s, struct hls_segment *seg)
{
    assert(seg->entry.id == 0);
    hls_segment_forget(s, seg);
    hls_shared_unref(s, seg->init);
    hls_shared_unref(s, seg->key);
    free(seg->path);
    free(seg->uri);
    free(seg);
}

void hls_segment_remove(struct hls_store *s, struct hls_segment *seg)
{
    if ((s->info->set.cleanup || s->info->disposing) && (seg->on_disk || seg->writing)) {
        hls_disk_remove(s, seg->path);
        if (seg->on_disk)
            disk_room_add(&s->room, -(int64_t)seg->bytes);
    }
    hls_record_forget(s, &seg->entry);
    seg->removed = true;
    hls_segment_forget(s, seg);
    if (!seg->writing)
        hls_segment_free(s, seg);
}

void hls_segment_measure(struct hls_segment *seg)
{
    struct mpd_track *t = &seg->init->track;
    double seconds = (double)seg->at.duration / t->timescale;
    double rate = seconds > 0.1 ? (double)seg->bytes * 8 / seconds : 0;

    if (rate > t->bandwidth && rate < 4e9) /* keeps the highest rate of a segment */
        t->bandwidth = (unsigned)rate;
}
