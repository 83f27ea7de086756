/* SPDX-License-Identifier: MIT */
/* stream.c - the players of a source, served together. */
#include "serve/srt/stream.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "serve/srt/impl.h"

#include <stdlib.h>

/* Between two walks, at most. */
#define MOST CO_MS(100)

struct srt_stream {
    struct datagram_stream base;
    struct srt_wire *wire;
};

/* ---- who plays */

static struct srt_peer *peer_of(struct datagram_player *p)
{
    return container_of(p, struct srt_peer, player);
}

bool srt_stream_has(const struct srt_peer *p)
{
    return datagram_stream_has(&p->player);
}

static void set_every(struct datagram_stream *st)
{
    st->every = MOST;
    for (struct datagram_player *p = st->players; p; p = p->next) {
        if (peer_of(p)->play.every < st->every)
            st->every = peer_of(p)->play.every;
    }
}

void srt_stream_add(struct srt_stream *st, struct srt_peer *p)
{
    co_usec now = co_clock(), latency = p->conn.agreed.send_latency;
    bool first = datagram_stream_add(&st->base, &p->player);

    srt_wire_keep(st->wire, latency + latency / 2);
    if (first || p->play.every < st->base.every)
        st->base.every = p->play.every;
    if (!first)
        return;
    srt_wire_wanted(st->wire, true);
    srt_wire_take(st->wire, now);
    datagram_stream_begin(&st->base, now);
}

void srt_stream_remove(struct srt_stream *st, struct srt_peer *p)
{
    bool had = srt_stream_has(p), last = datagram_stream_remove(&st->base, &p->player);

    if (had && !last && p->play.every == st->base.every)
        set_every(&st->base);
    if (!last)
        return;
    datagram_stream_end(&st->base);
    srt_wire_wanted(st->wire, false);
}

/* ---- streams of a worker */

static void free_stream(struct datagram_stream *base)
{
    struct srt_stream *st = container_of(base, struct srt_stream, base);

    srt_wire_free(st->wire);
    free(st);
}

/* Who may wait longer than others of its stream is not served in each walk. */
static void serve(struct datagram_stream *st, struct datagram_player *player, co_usec now)
{
    struct srt_peer *p = peer_of(player);
    uint32_t turn = (uint32_t)(now / p->play.every);

    (void)st;
    if (turn == p->play.turn || p->state != SRT_PLAYS)
        return;
    p->play.turn = turn;
    srt_play_turn(p, now);
}

static void take(struct datagram_stream *st, co_usec now)
{
    srt_wire_take(container_of(st, struct srt_stream, base)->wire, now);
}

static void look(struct datagram_player *p, co_usec now)
{
    srt_play_look(peer_of(p), now);
}

static const struct datagram_stream_kind kind = {
    .looker = "srt-look", .burst = sizeof(struct srt_burst), .serve = serve, .take = take,
    .begin_look = set_every /* it may have changed */, .look = look, .free = free_stream,
};

static struct srt_stream *stream_new(struct srt_service *s, struct live_source *src)
{
    const struct srt_wire_opts opts = {
        .payload = (unsigned)s->base.env->conf->srt_server.payloadsize,
        .max_bytes = live_source_set(src).max_bytes,
        .counter = live_registry_counter(s->base.env->streams),
    };
    struct srt_stream *st = must(calloc(1, sizeof(*st)));

    datagram_stream_enter(&s->streams, &s->base, &kind, &st->base, src);
    st->wire = srt_wire_new(src, &opts);
    st->base.every = MOST;
    return st;
}

struct srt_stream *srt_stream_get(struct srt_service *s, struct live_source *src)
{
    struct datagram_stream *st = datagram_stream_get(&s->streams, src);

    return st ? container_of(st, struct srt_stream, base) : stream_new(s, src);
}

void srt_stream_put(struct srt_stream *st)
{
    if (st)
        datagram_stream_put(&st->base);
}

struct srt_wire *srt_stream_wire(struct srt_stream *st)
{
    return st->wire;
}
