/* SPDX-License-Identifier: MIT */
/* parts.c - low latency: the parts of a segment, which players have one by one. */
#include "base/must.h"
#include "sink/hls/stream.h"

#include <stdlib.h>
#include <string.h>

/* "live/s-12.3.m4s": the parts have names of their own, known before they are there. */
static char *part_path(const struct hls_stream *s, uint64_t seq, size_t part)
{
    size_t n = strlen(s->m3u8_path);

    if (n > 5 && strcmp(s->m3u8_path + n - 5, ".m3u8") == 0)
        n -= 5;
    return must_print("%.*s-%llu.%zu.m4s", (int)n, s->m3u8_path, (unsigned long long)seq, part);
}

void hls_part_hint(struct hls_stream *s, uint64_t seq, size_t part)
{
    if (s->hint)
        hls_names_drop(s->hls, s->hint, NULL);
    free(s->hint);
    s->hint = part_path(s, seq, part);
    hls_names_set(s->hls, s->hint, NULL, s);
}

void hls_part_add(struct hls_stream *s, int64_t end, size_t from)
{
    struct hls_segment *seg = s->now;
    struct hls_part *v = must(realloc(seg->parts, (seg->n_parts + 1) * sizeof(v[0]))), *p;
    struct blocks b;

    seg->parts = v;
    p = &v[seg->n_parts];
    blocks_init(&b, HLS_SEGMENT_MAX * 2, &s->shop->blocks);
    blocks_copy(&b, &s->out, from);
    *p = (struct hls_part){ .path = part_path(s, seg->seq, seg->n_parts),
                            .duration = segmenter_part(&s->segmenter, end),
                            .independent = s->segmenter.part_independent };
    p->uri = hls_uri(s, p->path);
    p->file = hls_file_of(s->hls, &b, s->container->type);
    seg->n_parts++;
    hls_names_set(s->hls, p->path, p->file, s);
}

void hls_parts_drop(struct hls_stream *s, struct hls_segment *seg)
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

/* A part is complete within the segment: players that wait for it can have it. */
void hls_part_end(struct hls_stream *s, int64_t end)
{
    s->container->part(s, end);
    if (!s->ll)
        return;
    hls_part_hint(s, s->now->seq, s->now->n_parts);
    hls_list_publish(s);
}
