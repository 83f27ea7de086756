/* SPDX-License-Identifier: MIT */
/* memory_limit.c - what a stream's HLS or DASH has in memory counts with what streams remember:
 * over `limits { memory }` the largest lose it. */
#include "base/container_of.h"
#include "sink/hls/stream.h"

static struct hls_stream *stream_of(const struct live_keeper *k)
{
    return container_of(k, struct hls_stream, keeper);
}

static size_t growing(const struct hls_stream *s)
{
    return s->mux.now ? blocks_len(&s->mux.out) + mp4_frag_bytes(&s->mux.mp4) : 0;
}

/* Segments first, then the one that grows. */
static size_t droppable(const struct live_keeper *k)
{
    const struct hls_stream *s = stream_of(k);
    size_t idle = hls_list_idle(&s->list);

    return idle > 0 ? idle : growing(s);
}

/* It goes on with the next key frame. With parts, which players know already, it ends early. */
static void lose_growing(struct hls_stream *s)
{
    if (s->info.set.ll) {
        hls_segment_close(&s->mux, segmenter_end(&s->mux.segmenter));
        return;
    }
    hls_segment_drop(&s->mux);
    mp4_frag_drop(&s->mux.mp4);
    mp4_frag_jump(&s->mux.mp4);
    ts_mux_drop(&s->mux.ts);
    s->mux.segmenter.discontinuity = true;
}

static void cut(struct live_keeper *k)
{
    struct hls_stream *s = stream_of(k);

    if (hls_list_idle(&s->list) > 0)
        hls_list_lose(&s->list);
    else if (s->mux.now)
        lose_growing(s);
}

void hls_limit_memory(struct hls_stream *s)
{
    static const struct live_keeping how = { droppable, cut };

    live_keeper_open(&s->keeper, s->info.hls->env->streams, s->info.name, &how);
}
