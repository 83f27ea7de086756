/* SPDX-License-Identifier: MIT */
/* stream.c - serves the players of a source together.
 *
 * One walk serves all of them after each merge time: it cuts new media into packets once, then
 * sends each player its new packets with one system call, with headers of 16 bytes and shared
 * payloads.
 */
#include "serve/srt/impl.h"

#include "base/container_of.h"
#include "wire/srt.h"

/* Longest time between two walks. */
#define MOST CO_MS(100)

struct srt_stream {
    struct datagram_stream base;
    struct srt_wire *wire;
    unsigned relays;           /* relaying publishers: one, and those being replaced */
};

static struct srt_stream *stream_of(struct datagram_stream *st)
{
    return container_of(st, struct srt_stream, base);
}

static struct srt_peer *peer_of(struct datagram_player *p)
{
    return container_of(p, struct srt_peer, base.player);
}

/* ---- players */

static void set_every(struct datagram_stream *st)
{
    st->every = MOST;
    for (struct datagram_player *p = st->players; p; p = p->next) {
        if (peer_of(p)->play.every < st->every)
            st->every = peer_of(p)->play.every;
    }
}

void srt_stream_add(struct srt_peer *p)
{
    struct datagram_stream *st = p->base.stream;
    co_usec latency = p->conn.agreed.send_latency;

    srt_wire_keep(stream_of(st)->wire, latency + latency / 2);
    if (!st->players || p->play.every < st->every)
        st->every = p->play.every;
    datagram_stream_add(st, &p->base.player);
}

void srt_stream_remove(struct srt_peer *p)
{
    struct datagram_stream *st = p->base.stream;

    datagram_stream_remove(st, &p->base.player);
    if (st->players && p->play.every == st->every)
        set_every(st);
}

/* ---- functions of datagram_streams */

static void begin(struct datagram_stream *st, struct datagram_service *s)
{
    const struct srt_wire_opts opts = {
        .payload = (unsigned)s->env->conf->srt_server.payloadsize,
        .max_bytes = live_source_set(st->src).max_bytes,
        .counter = live_registry_counter(s->env->streams),
    };

    stream_of(st)->wire = srt_wire_new(st->src, &opts);
    st->every = MOST;
}

static void free_stream(struct datagram_stream *st)
{
    srt_wire_free(stream_of(st)->wire);
}

static void wanted(struct datagram_stream *st, bool on)
{
    srt_wire_wanted(stream_of(st)->wire, on);
}

/* A player with a longer merge time than others is not served in each walk. */
static void serve(struct datagram_stream *st, struct datagram_player *player, co_usec now)
{
    struct srt_peer *p = peer_of(player);
    uint32_t turn = (uint32_t)(now / p->play.every);

    (void)st;
    if (turn == p->play.turn || p->base.state != DATAGRAM_ACTIVE)
        return;
    p->play.turn = turn;
    srt_play_turn(p, now);
}

static void take(struct datagram_stream *st, co_usec now)
{
    srt_wire_take(stream_of(st)->wire, now);
}

static const struct datagram_stream_kind kind = {
    .checker = "srt-look", .size = sizeof(struct srt_stream), .burst = sizeof(struct srt_burst),
    .begin = begin, .free = free_stream, .wanted = wanted, .serve = serve, .take = take,
    .begin_check = set_every /* the merge time may have changed */,
};

struct datagram_stream *srt_stream_get(struct srt_service *s, struct live_source *src)
{
    return datagram_stream_get(&s->streams, &s->base, &kind, src);
}

struct srt_wire *srt_stream_wire(struct datagram_stream *st)
{
    return stream_of(st)->wire;
}

void srt_stream_relay_begin(struct datagram_stream *st)
{
    stream_of(st)->relays++;
    srt_wire_relay_begin(stream_of(st)->wire);
}

void srt_stream_relay_end(struct datagram_stream *st)
{
    if (--stream_of(st)->relays == 0)
        srt_wire_relay_end(stream_of(st)->wire);
}
