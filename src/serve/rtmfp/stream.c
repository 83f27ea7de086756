/* SPDX-License-Identifier: MIT */
/* stream.c - the players of a source, served together. */
#include "serve/rtmfp/stream.h"

#include "base/container_of.h"
#include "base/must.h"

#include <stdlib.h>

#define EVERY CO_MS(10) /* between two walks: small frames of a walk share packets */

struct rtmfp_stream {
    struct datagram_stream base;
    struct rtmfp_wire *wire;
};

/* ---- who plays */

bool rtmfp_stream_has(const struct rtmfp_netstream *n)
{
    return datagram_stream_has(&n->play.player);
}

void rtmfp_stream_add(struct rtmfp_stream *st, struct rtmfp_netstream *n)
{
    co_usec now = co_clock();

    if (!datagram_stream_add(&st->base, &n->play.player))
        return;
    rtmfp_wire_wanted(st->wire, true);
    rtmfp_wire_take(st->wire, now);
    datagram_stream_begin(&st->base, now);
}

void rtmfp_stream_remove(struct rtmfp_stream *st, struct rtmfp_netstream *n)
{
    if (!datagram_stream_remove(&st->base, &n->play.player))
        return;
    datagram_stream_end(&st->base);
    rtmfp_wire_wanted(st->wire, false);
}

/* ---- streams of a worker */

static void free_stream(struct datagram_stream *base)
{
    struct rtmfp_stream *st = container_of(base, struct rtmfp_stream, base);

    rtmfp_wire_free(st->wire);
    free(st);
}

static struct rtmfp_netstream *netstream_of(struct datagram_player *p)
{
    return container_of(p, struct rtmfp_netstream, play.player);
}

static void serve(struct datagram_stream *st, struct datagram_player *p, co_usec now)
{
    struct rtmfp_netstream *n = netstream_of(p);

    (void)st;
    if (n->doing == RTMFP_PLAYS && rtmfp_play_turn(n, now))
        rtmfp_peer_flush(n->peer, now); /* while it is in the cache */
}

static void take(struct datagram_stream *st, co_usec now)
{
    rtmfp_wire_take(container_of(st, struct rtmfp_stream, base)->wire, now);
}

static void look(struct datagram_player *p, co_usec now)
{
    rtmfp_play_look(netstream_of(p), now);
}

static const struct datagram_stream_kind kind = {
    .looker = "rtmfp-look", .serve = serve, .take = take, .look = look, .free = free_stream,
};

static struct rtmfp_stream *stream_new(struct rtmfp_service *s, struct live_source *src)
{
    const struct rtmfp_wire_opts opts = {
        .max_bytes = live_source_set(src).max_bytes,
        .counter = live_registry_counter(s->base.env->streams),
    };
    struct rtmfp_stream *st = must(calloc(1, sizeof(*st)));

    st->base.every = EVERY;
    datagram_stream_enter(&s->streams, &s->base, &kind, &st->base, src);
    st->wire = rtmfp_wire_new(src, &opts);
    return st;
}

struct rtmfp_stream *rtmfp_stream_get(struct rtmfp_service *s, struct live_source *src)
{
    struct datagram_stream *st = datagram_stream_get(&s->streams, src);

    return st ? container_of(st, struct rtmfp_stream, base) : stream_new(s, src);
}

void rtmfp_stream_put(struct rtmfp_stream *st)
{
    if (st)
        datagram_stream_put(&st->base);
}

struct rtmfp_wire *rtmfp_stream_wire(struct rtmfp_stream *st)
{
    return st->wire;
}
