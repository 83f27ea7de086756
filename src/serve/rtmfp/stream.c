/* SPDX-License-Identifier: MIT */
/* stream.c - the players of a source, served together. */
#include "serve/rtmfp/stream.h"

#include "base/container_of.h"

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
    datagram_stream_add(&st->base, &n->play.player);
}

void rtmfp_stream_remove(struct rtmfp_stream *st, struct rtmfp_netstream *n)
{
    datagram_stream_remove(&st->base, &n->play.player);
}

/* ---- streams of a worker */

static void free_stream(struct datagram_stream *base)
{
    rtmfp_wire_free(container_of(base, struct rtmfp_stream, base)->wire);
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

static void wanted(struct datagram_stream *st, bool on)
{
    rtmfp_wire_wanted(container_of(st, struct rtmfp_stream, base)->wire, on);
}

static void check(struct datagram_player *p, co_usec now)
{
    rtmfp_play_look(netstream_of(p), now);
}

static void begin(struct datagram_stream *base, struct datagram_service *s)
{
    const struct rtmfp_wire_opts opts = {
        .max_bytes = live_source_set(base->src).max_bytes,
        .counter = live_registry_counter(s->env->streams),
    };

    base->every = EVERY;
    container_of(base, struct rtmfp_stream, base)->wire = rtmfp_wire_new(base->src, &opts);
}

static const struct datagram_stream_kind kind = {
    .checker = "rtmfp-look", .size = sizeof(struct rtmfp_stream), .begin = begin,
    .free = free_stream, .wanted = wanted, .serve = serve, .take = take, .check = check,
};

struct rtmfp_stream *rtmfp_stream_get(struct rtmfp_service *s, struct live_source *src)
{
    return container_of(datagram_stream_get(&s->streams, &s->base, &kind, src),
                        struct rtmfp_stream, base);
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
