/* SPDX-License-Identifier: MIT */
/* segment.c - one segment, from its first frame to its file. */
#include "base/log.h"
#include "base/must.h"
#include "sink/hls/stream.h"

#include <stdlib.h>
#include <string.h>

void hls_segment_open(struct hls_stream *s, const struct frame *f)
{
    struct hls_segment *seg = must(calloc(1, sizeof(*seg)));
    const struct segmenter_begin *how = &s->segmenter.now;

    segmenter_open(&s->segmenter, f->dts, hls_wall(s), co_now());
    seg->seq = s->next_seq;
    seg->begin = how->at;
    seg->wall = how->wall;
    seg->discontinuity = how->discontinuity;
    seg->period = how->period;
    s->now = seg;
    shop_free_blocks(s->shop, &s->out);
    hls_key_next(s);
    ts_mux_restart(&s->ts);
    if (how->new_period) {
        s->mp4.origin = how->at;
        mp4_frag_jump(&s->mp4);
    }
}

static struct hls_shared *new_init(struct hls_stream *s, struct wr *header)
{
    struct hls_shared *x = hls_shared_new(s, s->set->path, s->set->init_file, s->now->seq, false);

    s->other_inits = true;
    x->file = hls_file_new(s->hls, header, "video/mp4");
    hls_names_set(s->hls, x->path, x->file, s);
    hls_disk_shared(s, x);
    return x;
}

/* A publisher who comes back as before needs no other initialization. */
void hls_make_init(struct hls_stream *s)
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

/* ------------------------------------------------------------ parts */

/* "live/s-12.3.m4s": the parts have names of their own, known before they are there. */
static char *part_path(const struct hls_stream *s, uint64_t seq, size_t part)
{
    size_t n = strlen(s->m3u8_path);

    if (n > 5 && strcmp(s->m3u8_path + n - 5, ".m3u8") == 0)
        n -= 5;
    return must_print("%.*s-%llu.%zu.m4s", (int)n, s->m3u8_path, (unsigned long long)seq, part);
}

static void hint_next(struct hls_stream *s, uint64_t seq, size_t part)
{
    if (s->hint)
        hls_names_drop(s->hls, s->hint, NULL);
    free(s->hint);
    s->hint = part_path(s, seq, part);
    hls_names_set(s->hls, s->hint, NULL, s);
}

static void add_part(struct hls_stream *s, int64_t end)
{
    struct hls_segment *seg = s->now;
    struct hls_part *v = must(realloc(seg->parts, (seg->n_parts + 1) * sizeof(v[0]))), *p;
    struct blocks b;

    seg->parts = v;
    p = &v[seg->n_parts];
    blocks_init(&b, HLS_SEGMENT_MAX * 2, &s->shop->blocks);
    blocks_copy(&b, &s->out, s->part_from);
    *p = (struct hls_part){ .path = part_path(s, seg->seq, seg->n_parts),
                            .duration = segmenter_part(&s->segmenter, end),
                            .independent = s->segmenter.part_independent };
    p->uri = hls_uri(s, p->path);
    p->file = hls_file_of(s->hls, &b, "video/iso.segment");
    seg->n_parts++;
    hls_names_set(s->hls, p->path, p->file, s);
}

void hls_part_cut(struct hls_stream *s, int64_t end)
{
    if (mp4_frag_is_empty(&s->mp4))
        return;
    hls_make_init(s);
    if (!s->now->init)
        s->now->init = hls_shared_ref(s->init);
    s->part_from = blocks_len(&s->out);
    mp4_frag_cut(&s->mp4, end, s->part_from == 0, &s->out);
    if (s->ll)
        add_part(s, end);
}

static void drop_parts(struct hls_stream *s, struct hls_segment *seg)
{
    for (size_t i = 0; i < seg->n_parts; i++) {
        struct hls_part *p = &seg->parts[i];

        hls_names_drop(s->hls, p->path, p->file);
        (void)hls_file_unref(p->file);
        free(p->path);
        free(p->uri);
    }
    free(seg->parts);
    seg->parts = NULL;
    seg->n_parts = 0;
}

/* ------------------------------------------------------------ the end of a segment */

void hls_segment_forget(struct hls_stream *s, struct hls_segment *seg)
{
    drop_parts(s, seg);
    if (!seg->file)
        return;
    s->in_memory -= seg->file->size;
    hls_names_drop(s->hls, seg->path, seg->file);
    seg->file = hls_file_unref(seg->file);
}

void hls_segment_free(struct hls_stream *s, struct hls_segment *seg)
{
    hls_segment_forget(s, seg);
    hls_shared_unref(s, seg->init);
    hls_shared_unref(s, seg->key);
    free(seg->path);
    free(seg->uri);
    free(seg);
}

static bool name_it(struct hls_stream *s, struct hls_segment *seg)
{
    const char *text = s->fmp4 ? s->set->fmp4_file : s->set->ts_file;
    char path[HLS_NAME_MAX];
    err_t err = hls_name(s, s->set->path, text, seg->seq, seg->duration, path, sizeof(path));

    if (err) {
        log_end("HLS segment is left out", &err);
        return false;
    }
    seg->path = must_dup(path);
    seg->uri = hls_uri(s, path);
    return true;
}

void hls_segment_notify(struct hls_stream *s, const struct hls_segment *seg)
{
    enum sampled_kind kind = s->dash ? SAMPLED_DASH : SAMPLED_HLS;

    if (!sampled_due(&s->hls->env->sampled, kind, co_now(), s->conf->sampled_print))
        return;
    log_trace("%s time=%lldms, sno=%llu, ts=%s, dur=%lldms, dva=0p", sampled_name(kind),
              (long long)(co_now() - s->began_at) / 1000, (unsigned long long)seg->seq,
              strrchr(seg->path, '/') ? strrchr(seg->path, '/') + 1 : seg->path,
              (long long)seg->duration / 90);
}

/* What is in it cannot be used, or is nothing: the next one is not its continuation. */
void hls_segment_drop(struct hls_stream *s)
{
    segmenter_lose(&s->segmenter, s->out.w.bad);
    shop_free_blocks(s->shop, &s->out);
    hls_segment_free(s, s->now);
    s->now = NULL;
}

void hls_segment_fill(struct hls_stream *s, struct hls_segment *seg)
{
    seg->bytes = blocks_len(&s->out);
    seg->file = hls_file_of(s->hls, &s->out, s->fmp4 ? "video/iso.segment" : "video/mp2t");
    s->in_memory += seg->bytes;
    hls_names_set(s->hls, seg->path, seg->file, s);
}

void hls_segment_close(struct hls_stream *s, int64_t end)
{
    struct hls_segment *seg = s->now;

    if (s->dash) {
        dash_segment_close(s, end);
        return;
    }
    if (s->fmp4)
        hls_part_cut(s, end);
    else
        ts_mux_flush(&s->ts, &s->out.w);
    seg->duration = end - seg->begin;
    hls_seal_end(s);
    if (s->out.w.bad || blocks_len(&s->out) == 0 || seg->duration <= 0 || !name_it(s, seg)) {
        hls_segment_drop(s);
        return;
    }
    s->next_seq++;
    s->now = NULL;
    segmenter_close(&s->segmenter, end);
    hls_segment_fill(s, seg);
    hls_segment_notify(s, seg);
    if (s->ll)
        hint_next(s, s->next_seq, 0);
    hls_list_add(s, seg);
    hls_disk_segment(s, seg);
}

/* A part is complete within the segment: who waits for it can have it. */
void hls_part_end(struct hls_stream *s, int64_t end)
{
    hls_part_cut(s, end);
    if (!s->ll)
        return;
    hint_next(s, s->now->seq, s->now->n_parts);
    hls_list_publish(s);
}
