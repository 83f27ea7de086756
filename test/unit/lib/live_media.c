/* SPDX-License-Identifier: MIT */
/* live_media.c - a live source that frames are published to: for tests. */
#include "live_media.h"

const struct live_takeover rule = { LIVE_TAKEOVER_ON, 0, 0 };
struct live_publisher me = { .ip = "127.0.0.1" };

struct live_source *live_begin(const struct live_settings *set)
{
    struct live_source *src = live_source_new("v/a/s", set);

    assert_ok(live_source_begin(src, &me, &rule));
    return src;
}

void live_end(struct live_source *src)
{
    live_source_end(src, &me);
    (void)live_source_unref(src);
    live_deferred_free_flush();
    assert_int_equal(live_source_live(), 0);
}

void push(struct live_source *src, const struct frame *f)
{
    struct av_packet *pkt = av_packet_new(f->size);

    pkt->kind = (uint8_t)f->kind;
    pkt->codec = (uint8_t)f->codec;
    pkt->track = f->track;
    pkt->config = f->config;
    pkt->key = f->key;
    pkt->cts = (int32_t)(f->pts - f->dts);
    memcpy(pkt->data, f->data, f->size);
    live_source_push(src, pkt, f->dts);
    (void)av_packet_unref(pkt);
}
