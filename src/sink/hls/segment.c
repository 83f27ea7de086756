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

    segmenter_open(&s->segmenter, f->dts, hls_clock_now(&s->clock), co_now());
    seg->seq = s->next_seq;
    seg->begin = how->at;
    seg->wall = how->wall;
    seg->discontinuity = how->discontinuity;
    seg->period = how->period;
    s->now = seg;
    shop_free_blocks(s->shop, &s->out);
    hls_key_next(s);
    s->container->open(s);
}

/* ------------------------------------------------------------ the end of a segment */

static bool name_it(struct hls_stream *s, struct hls_segment *seg)
{
    const char *text = s->container->file(&s->set);
    char path[HLS_NAME_MAX];
    err_t err = hls_name(s, s->set.path, text, seg->seq, seg->duration, path, sizeof(path));

    if (err) {
        log_end("HLS segment is left out", &err);
        return false;
    }
    seg->path = must_dup(path);
    seg->uri = hls_uri(s, path);
    return true;
}

static void print(struct hls_stream *s, const struct hls_segment *seg)
{
    enum sampled_kind kind = s->kind->sampled;

    if (!sampled_due(&s->hls->env->sampled, kind, co_now(), s->conf->sampled_print))
        return;
    log_trace("%s time=%lldms, sno=%llu, ts=%s, dur=%lldms, dva=0p", sampled_name(kind),
              us_to_ms(co_now() - s->began_at), (unsigned long long)seg->seq,
              strrchr(seg->path, '/') ? strrchr(seg->path, '/') + 1 : seg->path,
              av_to_ms(seg->duration));
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
    seg->file = hls_file_of(s->hls, &s->out, s->container->type);
    s->in_memory += seg->file->blocks.memory;
    hls_names_set(s->hls, seg->path, seg->file, s);
}

bool hls_segment_whole(struct hls_stream *s, int64_t end)
{
    struct hls_segment *seg = s->now;

    seg->duration = end - seg->begin;
    hls_seal_end(s);
    if (s->out.w.bad || blocks_len(&s->out) == 0 || seg->duration <= 0 || !name_it(s, seg))
        return false;
    hls_segment_fill(s, seg);
    return true;
}

void hls_segment_close(struct hls_stream *s, int64_t end)
{
    struct hls_segment *seg = s->now, *second = NULL;

    if (!s->container->close(s, end, &second)) {
        hls_segment_drop(s);
        return;
    }
    s->next_seq++;
    s->now = NULL;
    segmenter_close(&s->segmenter, end);
    print(s, seg);
    if (s->ll)
        hls_part_hint(s, s->next_seq, 0);
    hls_list_add(s, seg, second);
    hls_disk_segment(s, seg);
    if (second)
        hls_disk_segment(s, second);
}
