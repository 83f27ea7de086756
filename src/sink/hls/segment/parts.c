/* SPDX-License-Identifier: MIT */
/* parts.c - low latency: the parts of a segment, which players fetch one by one. */
#include "base/must.h"
#include "sink/hls/segment/muxer.h"

#include <stdlib.h>

void hls_part_no_hint(struct hls_muxer *m)
{
    if (m->hint)
        hls_names_drop(m->info->hls, m->hint, NULL);
    free(m->hint);
    m->hint = NULL;
}

void hls_part_hint(struct hls_muxer *m, uint64_t seq, size_t part)
{
    hls_part_no_hint(m);
    m->hint = hls_part_path(m->info, seq, part);
    hls_names_set(m->info, m->hint, NULL);
}

void hls_part_add(struct hls_muxer *m, int64_t end, size_t from)
{
    struct hls_segment *seg = m->now;
    struct hls_part *v = must(realloc(seg->parts, (seg->n_parts + 1) * sizeof(v[0]))), *p;
    struct blocks b;

    seg->parts = v;
    p = &v[seg->n_parts];
    blocks_init(&b, HLS_SEGMENT_MAX * 2, &m->info->cache->blocks);
    blocks_copy(&b, &m->out, from);
    *p = (struct hls_part){ .path = hls_part_path(m->info, seg->seq, seg->n_parts),
                            .duration = segmenter_part(&m->segmenter, end),
                            .independent = m->segmenter.part_independent };
    p->uri = hls_uri(m->info, p->path);
    p->file = hls_file_of(m->info->hls, &b, m->info->container->type);
    seg->n_parts++;
    hls_names_set(m->info, p->path, p->file);
}

/* Ends a part within the segment: waiting players get it. */
void hls_part_end(struct hls_muxer *m, int64_t end)
{
    m->info->container->part(m, end);
    if (!m->info->set.ll)
        return;
    hls_part_hint(m, m->now->seq, m->now->n_parts);
    hls_list_publish(m->list);
}
