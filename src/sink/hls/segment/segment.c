/* SPDX-License-Identifier: MIT */
/* segment.c - one segment, from its first frame to its file; and the muxer. */
#include "base/log.h"
#include "base/must.h"
#include "sink/hls/segment/muxer.h"

#include <stdlib.h>
#include <string.h>

#define AUDIO_SPAN AV_MS(100)

static void init_containers(struct hls_muxer *m)
{
    ts_mux_init(&m->ts);
    m->ts.audio_span = AUDIO_SPAN;
    mp4_frag_init(&m->mp4, HLS_SEGMENT_MAX * 2, &m->info->cache->blocks);
}

static void fini_containers(struct hls_muxer *m)
{
    ts_mux_fini(&m->ts);
    mp4_frag_fini(&m->mp4);
}

void hls_muxer_init(struct hls_muxer *m)
{
    blocks_init(&m->out, HLS_SEGMENT_MAX * 2, &m->info->cache->blocks);
    init_containers(m);
}

void hls_muxer_restart(struct hls_muxer *m)
{
    fini_containers(m);
    init_containers(m);
    hls_shared_unref(m->store, m->init);
    m->init = NULL;
    m->began_at = co_now();
    m->begun = false;
    m->bad = 0;
    segmenter_restart(&m->segmenter, m->next_seq > 0);
}

void hls_muxer_clear(struct hls_muxer *m)
{
    struct hls_shared **const all[] = { &m->init, &m->last_init, &m->crypt.key, &m->track_init[0],
                                        &m->track_init[1] };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        hls_shared_unref(m->store, *all[i]);
        *all[i] = NULL;
    }
}

void hls_muxer_fini(struct hls_muxer *m)
{
    fini_containers(m);
    blocks_free(&m->out);
    EVP_CIPHER_CTX_free(m->crypt.cipher);
    free(m->hint);
}

struct hls_numbers hls_segment_numbers(const struct hls_muxer *m)
{
    return (struct hls_numbers){ .seq = m->now->seq, .duration = m->now->duration,
                                 .wall = m->now->wall, .floor = m->segmenter.floor_name };
}

void hls_segment_open(struct hls_muxer *m, const struct frame *f)
{
    struct hls_segment *seg = must(calloc(1, sizeof(*seg)));
    const struct segmenter_begin *how = &m->segmenter.now;

    segmenter_open(&m->segmenter, f->dts, hls_clock_now(&m->info->clock), co_now());
    seg->seq = m->next_seq;
    seg->begin = how->at;
    seg->wall = how->wall;
    seg->discontinuity = how->discontinuity;
    seg->period = how->period;
    m->now = seg;
    block_cache_return(m->info->cache, &m->out);
    hls_key_next(m);
    if (m->info->container->open)
        m->info->container->open(m);
}

/* ------------------------------------------------------------ the end of a segment */

static bool name_it(struct hls_muxer *m, struct hls_segment *seg)
{
    const char *text = m->info->container->file(&m->info->set);
    char path[HLS_NAME_MAX];
    struct hls_numbers n = hls_segment_numbers(m);
    err_t err = hls_name(m->info, m->info->set.path, text, &n, path);

    if (err) {
        log_end("HLS segment is left out", &err);
        return false;
    }
    seg->path = must_dup(path);
    seg->uri = hls_uri(m->info, path);
    return true;
}

static void print(struct hls_muxer *m, const struct hls_segment *seg)
{
    enum sampled_kind kind = m->info->format->sampled;

    if (!sampled_due(&m->info->hls->env->sampled, kind, co_now(), m->info->conf->sampled_print))
        return;
    log_trace("%s time=%lldms, sno=%llu, ts=%s, dur=%lldms, dva=0p", sampled_name(kind),
              us_to_ms(co_now() - m->began_at), (unsigned long long)seg->seq,
              strrchr(seg->path, '/') ? strrchr(seg->path, '/') + 1 : seg->path,
              av_to_ms(seg->duration));
}

/* Drops an empty or unusable segment: the next one does not continue it. */
void hls_segment_drop(struct hls_muxer *m)
{
    segmenter_lose(&m->segmenter, m->out.w.bad);
    block_cache_return(m->info->cache, &m->out);
    hls_segment_free(m->store, m->now);
    m->now = NULL;
}

bool hls_segment_whole(struct hls_muxer *m, int64_t end)
{
    struct hls_segment *seg = m->now;

    seg->duration = end - seg->begin;
    hls_seal_end(m);
    if (m->out.w.bad || blocks_len(&m->out) == 0 || seg->duration <= 0 || !name_it(m, seg))
        return false;
    hls_segment_fill(m->store, seg, &m->out);
    return true;
}

void hls_segment_close(struct hls_muxer *m, int64_t end)
{
    struct hls_segment *seg = m->now, *second = NULL;

    if (!m->info->container->close(m, end, &second)) {
        hls_segment_drop(m);
        return;
    }
    m->next_seq++;
    m->now = NULL;
    segmenter_close(&m->segmenter, end);
    print(m, seg);
    if (m->info->set.ll)
        hls_part_hint(m, m->next_seq, 0);
    hls_list_add(m->list, seg, second);
    (void)hls_list_again(m->list); /* retries earlier failed writes first */
    hls_disk_segment(m->store, seg);
    if (second)
        hls_disk_segment(m->store, second);
}
