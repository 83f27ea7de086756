/* SPDX-License-Identifier: MIT */
/* parts.c - low latency: the parts of a segment, which players have one by one. */
#include "base/must.h"
#include "sink/hls/stream.h"

#include <stdlib.h>
#include <string.h>

void hls_part_hint(struct hls_stream *s, uint64_t seq, size_t part)
{
    if (s->hint)
        hls_names_drop(s->hls, s->hint, NULL);
    free(s->hint);
    s->hint = hls_part_path(s, seq, part);
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
    *p = (struct hls_part){ .path = hls_part_path(s, seg->seq, seg->n_parts),
                            .duration = segmenter_part(&s->segmenter, end),
                            .independent = s->segmenter.part_independent };
    p->uri = hls_uri(s, p->path);
    p->file = hls_file_of(s->hls, &b, s->container->type);
    seg->n_parts++;
    hls_names_set(s->hls, p->path, p->file, s);
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
