/* SPDX-License-Identifier: MIT */
/* stream.c - the players of a source, served together.
 *
 * One walk serves them all: it turns new packets into messages once, gives each player's flows
 * references to them, and the session of the player fragments and encrypts as much as may be sent.
 */
#include "serve/rtmfp/peer.h"

#include "base/container_of.h"
#include "wire/rtmfp.h"

#define EVERY CO_MS(10) /* between two walks: small frames of a walk share packets */

struct rtmfp_stream {
    struct datagram_stream base;
    struct rtmfp_wire *wire;
};

static struct rtmfp_netstream *netstream_of(struct datagram_player *p)
{
    return container_of(p, struct rtmfp_netstream, base.player);
}

struct rtmfp_wire *rtmfp_stream_wire(struct datagram_stream *st)
{
    return container_of(st, struct rtmfp_stream, base)->wire;
}

static void begin(struct datagram_stream *st, struct datagram_service *s)
{
    const struct rtmfp_wire_opts opts = {
        .max_bytes = live_source_set(st->src).max_bytes,
        .counter = live_registry_counter(s->env->streams),
    };

    st->every = EVERY;
    container_of(st, struct rtmfp_stream, base)->wire = rtmfp_wire_new(st->src, &opts);
}

static void free_stream(struct datagram_stream *st)
{
    rtmfp_wire_free(rtmfp_stream_wire(st));
}

static void wanted(struct datagram_stream *st, bool on)
{
    rtmfp_wire_wanted(rtmfp_stream_wire(st), on);
}

static void take(struct datagram_stream *st, co_usec now)
{
    rtmfp_wire_take(rtmfp_stream_wire(st), now);
}

static void serve(struct datagram_stream *st, struct datagram_player *p, co_usec now)
{
    struct rtmfp_netstream *n = netstream_of(p);

    (void)st;
    if (n->base.state == DATAGRAM_ACTIVE && rtmfp_play_turn(n, now))
        rtmfp_peer_flush(n->peer, now); /* while the data is in the processor's cache */
}

static const struct datagram_stream_kind kind = {
    .checker = "rtmfp-look", .size = sizeof(struct rtmfp_stream), .begin = begin,
    .free = free_stream, .wanted = wanted, .serve = serve, .take = take,
};

struct datagram_stream *rtmfp_stream_get(struct rtmfp_service *s, struct live_source *src)
{
    return datagram_stream_get(&s->streams, &s->base, &kind, src);
}
