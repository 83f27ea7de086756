/* SPDX-License-Identifier: MIT */
/* run.c - reads a stream's packets and produces HLS or DASH until the publisher ends. */
#include "base/log.h"
#include "sink/hls/stream.h"

/* How often it reads packets: a segment ends as soon as its last packet was read. */
#define TURN CO_MS(200)
#define TURN_LOW_LATENCY CO_MS(15)
/* Streams wake together at multiples of this time, which needs fewer scheduler turns. */
#define GRID CO_MS(20)

static void feed(struct hls_stream *s, const struct av_packet *pkt)
{
    struct frame_reader r;
    struct frame f;

    frame_begin(&r, pkt);
    while (frame_next(&r, &f)) {
        struct frame mine = f;

        if (frame_is_of(&s->tracks, &f))
            hls_frame(&s->mux, &mine);
    }
}

static void read_configs(struct hls_stream *s)
{
    const struct av_packet *v[LIVE_CONFIGS];
    size_t n = live_reader_configs(&s->reader, v, LIVE_CONFIGS);

    for (size_t i = 0; i < n; i++) {
        frame_choose(&s->tracks, v[i]);
        feed(s, v[i]);
    }
}

/* Packets were lost, because the stream was faster: the next packet is not the following one. */
static void lost(struct hls_stream *s)
{
    log_warn("%s: %llu packets lost, it resumes at a key frame", s->info.name,
             (unsigned long long)(s->reader.dropped - s->dropped));
    s->dropped = s->reader.dropped;
    s->mux.segmenter.discontinuity = true;
    if (s->mux.now)
        hls_segment_close(&s->mux, segmenter_end(&s->mux.segmenter));
    mp4_frag_jump(&s->mux.mp4);
    read_configs(s);
}

void hls_drain(struct hls_stream *s, bool all)
{
    const struct av_packet *pkt;

    if (!s->ready)
        return;
    while (!s->given_up && (all || !co_slice_over()) &&
           (pkt = live_reader_next(&s->reader))) {
        if (!s->mux.begun)
            read_configs(s);
        else if (s->reader.dropped != s->dropped)
            lost(s);
        s->mux.begun = true;
        frame_choose(&s->tracks, pkt);
        feed(s, pkt);
    }
}

err_t hls_run(void *stream)
{
    struct hls_stream *s = stream;
    err_t err = NULL;

    if (!s->ready && s->info.set.recover)
        hls_recover(s);
    s->ready = true;
    while (s->info.live && !err && !(err = co_check())) {
        hls_drain(s, false);
        if (hls_stream_finish(s))
            continue;
        if (co_slice_over())
            co_yield();
        else
            err = live_reader_wait(&s->reader,
                                   s->info.set.ll ? TURN_LOW_LATENCY : TURN - co_now() % GRID);
    }
    err_free(&err);
    s->running = false;
    hls_info_unref(&s->info);
    return NULL;
}
