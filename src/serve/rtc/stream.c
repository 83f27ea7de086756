/* SPDX-License-Identifier: MIT */
/* stream.c - the players of a source, served together.
 *
 * When a frame arrived, one walk serves them all: wire/rtc has the packets once, and each player
 * gets them with its own header and key, from one scratch buffer and with one system call of equal
 * segments. The walk works in time slices, so that a thousand players block nothing. It uses at
 * most half of the thread while other work is pending, such as many handshakes.
 */
#include "serve/rtc/play.h"

#include "base/container_of.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

/* A new player gets much data, one turn's packets at a time: about 8 MB/s, which fits the 200 KB
 * socket buffers of clients. */
#define REST CO_MS(10)

enum { TAKES = 16, LINE = 64, VHOST_MAX = 256, OPUS_BITRATE = 48000 };

struct rtc_stream {
    struct datagram_stream base;
    struct rtc_service *service;
    struct rtc_wire *wire;
    struct rtc_peer *publisher;
    unsigned epoch;          /* last seen epoch of the wire */
    bool again;              /* a packet arrived during a walk */
    struct rtc_peer *late, **late_end; /* queue of players with more to send */
    struct co_task walk;     /* starts or continues a walk */
    struct co_timer rest;
};

static struct rtc_stream *stream_of(const struct datagram_stream *st)
{
    return container_of(st, struct rtc_stream, base);
}

static struct rtc_peer *peer_of(struct datagram_player *p)
{
    return container_of(p, struct rtc_peer, base.player);
}

/* ---- the walk */

static void on_walk(struct co_task *t);

/* ---- players with more to send */

static void on_rest(struct co_timer *t);

static void end_late(struct rtc_stream *st, struct rtc_play *play)
{
    if (!play->late_prev)
        return;
    *play->late_prev = play->late_next;
    if (play->late_next)
        play->late_next->play->late_prev = play->late_prev;
    else
        st->late_end = play->late_prev;
    play->late_prev = NULL;
}

static void begin_late(struct rtc_stream *st, struct rtc_peer *p)
{
    struct rtc_play *play = p->play;

    if (play->late_prev)
        return;
    play->late_next = NULL;
    play->late_prev = st->late_end;
    *st->late_end = p;
    st->late_end = &play->late_next;
    if (!st->rest.prev)
        co_timer_set(&st->rest, co_clock() + REST, on_rest);
}

void rtc_stream_late(struct rtc_peer *p)
{
    if (datagram_stream_has(&p->base.player))
        begin_late(stream_of(p->base.stream), p);
}

/* Serves each once, in order, as long as the time slice lasts. */
static void go_on_late(struct rtc_stream *st)
{
    co_usec now = co_clock();
    const struct rtc_peer *last = NULL;

    do {
        struct rtc_peer *p = st->late;

        end_late(st, p->play);
        if (p->base.state != DATAGRAM_ACTIVE || !rtc_play_turn(p, now))
            continue;
        begin_late(st, p);
        last = last ? last : p;
    } while (st->late && st->late != last && !co_slice_over());
    rtc_burst_send(st->service->streams.burst);
    if (st->late && !st->rest.prev)
        co_timer_set(&st->rest, now + REST, on_rest);
}

static void on_rest(struct co_timer *t)
{
    struct rtc_stream *st = container_of(t, struct rtc_stream, rest);

    if (st->late)
        go_on_late(st);
}

static bool is_other(const struct rtc_stream *st, const struct rtc_peer *p, enum av_kind kind)
{
    const struct sdp_track *t = &p->agreed.tracks[kind];
    enum av_codec codec = rtc_wire_codec(st->wire, kind);

    return t->on && codec != AV_CODEC_NONE && codec != t->codec;
}

/* The codecs of the stream changed: players that agreed on others must reconnect. */
static void check_codecs(const struct rtc_stream *st, struct rtc_peer *p)
{
    p->play->report_due = true;
    for (int i = 0; i < SDP_TRACKS && p->base.state == DATAGRAM_ACTIVE; i++) {
        enum av_kind kind = i == 0 ? AV_VIDEO : AV_AUDIO;

        if (is_other(st, p, kind))
            datagram_client_close(&p->base,
                                  err_new(ERR_RTC_NEGOTIATE, "%s is %s now, and %s was agreed on",
                                          p->base.session.names.name,
                                          av_codec_name(rtc_wire_codec(st->wire, kind)),
                                          av_codec_name(p->agreed.tracks[kind].codec)));
    }
}

static void take(struct rtc_stream *st)
{
    if (rtc_wire_take(st->wire, co_clock()))
        st->again = true;
    if (rtc_wire_epoch(st->wire) == st->epoch)
        return;
    st->epoch = rtc_wire_epoch(st->wire);
    for (struct datagram_player *p = st->base.players; p; p = p->next)
        check_codecs(st, peer_of(p));
}

static void serve(struct datagram_stream *base, struct datagram_player *player, co_usec now)
{
    struct rtc_stream *st = stream_of(base);
    struct rtc_peer *p = peer_of(player);

    if (base->at) {
        const struct rtc_play *play = peer_of(base->at)->play;

        __builtin_prefetch(play);
        __builtin_prefetch((const char *)play + LINE);
    }
    if (p->base.state != DATAGRAM_ACTIVE)
        return;
    if (rtc_play_turn(p, now))
        begin_late(st, p);
    else
        end_late(st, p->play);
}

static void go_on(struct rtc_stream *st)
{
    co_usec now = co_clock();
    bool done = datagram_stream_walk(&st->base, now);

    rtc_burst_send(st->service->streams.burst);
    if (!done || (st->again && st->base.players))
        co_post(&st->walk, on_walk);
}

static void on_walk(struct co_task *t)
{
    struct rtc_stream *st = container_of(t, struct rtc_stream, walk);

    if (st->base.at) {
        go_on(st);
        return;
    }
    st->again = false;
    take(st);
    st->base.at = st->base.players;
    go_on(st);
}

/* Called by the source when a batch of packets is complete: starts a walk at once. */
static void on_packets(void *arg)
{
    struct rtc_stream *st = arg;

    if (st->base.at)
        st->again = true;
    else
        on_walk(&st->walk);
}

void rtc_stream_wake(struct datagram_stream *base)
{
    struct rtc_stream *st = stream_of(base);

    if (base->at)
        st->again = true;
    else if (st->base.players)
        co_post(&st->walk, on_walk);
}

/* ---- players */

void rtc_stream_add(struct rtc_peer *p)
{
    struct rtc_stream *st = stream_of(p->base.stream);

    datagram_stream_add(&st->base, &p->base.player);
    check_codecs(st, p);
    if (st->again)
        rtc_stream_wake(&st->base);
}

void rtc_stream_remove(struct rtc_peer *p)
{
    if (!datagram_stream_has(&p->base.player))
        return;
    end_late(stream_of(p->base.stream), p->play);
    datagram_stream_remove(p->base.stream, &p->base.player);
}

static void wanted(struct datagram_stream *base, bool on)
{
    struct rtc_stream *st = stream_of(base);

    rtc_wire_wanted(st->wire, on);
    if (!on) {
        co_timer_cancel(&st->rest);
        co_post_cancel(&st->walk);
        return;
    }
    st->epoch = rtc_wire_epoch(st->wire);
    for (int i = 0; i < TAKES && rtc_wire_take(st->wire, co_clock()); i++)
        st->again = i + 1 == TAKES;
}

/* ---- streams of a worker */

/* The vhost is the first part of the name. */
static const struct conf_vhost *vhost_of(const struct rtc_service *s, const struct rtc_stream *st)
{
    const char *name = live_source_name(st->base.src);
    char vhost[VHOST_MAX];

    (void)snprintf(vhost, sizeof(vhost), "%.*s", (int)strcspn(name, "/"), name);
    return conf_vhost_find(s->base.env->conf, vhost);
}

static struct rtc_wire_opts options(struct rtc_service *s, struct rtc_stream *st)
{
    const struct conf_vhost *vhost = vhost_of(s, st);

    return (struct rtc_wire_opts){
        .max_bytes = live_source_set(st->base.src).max_bytes,
        .counter = live_registry_counter(s->base.env->streams),
        .merge_nalus = s->base.env->conf->rtc_server.merge_nalus,
        .keep_bframe = vhost && vhost->rtc.keep_bframe,
        .keep_sei = !vhost || vhost->rtc.keep_avc_nalu_sei,
        .transcoders = &s->base.group,
        .opus_bitrate = vhost ? vhost->rtc.opus_bitrate : OPUS_BITRATE,
        .on_packets = on_packets,
        .arg = st,
    };
}

static void free_stream(struct datagram_stream *base)
{
    struct rtc_stream *st = stream_of(base);

    co_timer_cancel(&st->rest);
    co_post_cancel(&st->walk);
    rtc_wire_free(st->wire);
}

static void begin(struct datagram_stream *base, struct datagram_service *s)
{
    struct rtc_stream *st = stream_of(base);
    struct rtc_wire_opts opts;

    st->service = container_of(s, struct rtc_service, base);
    st->late_end = &st->late;
    opts = options(st->service, st);
    st->wire = rtc_wire_new(base->src, &opts);
}

static const struct datagram_stream_kind kind = {
    .checker = "rtc-look", .size = sizeof(struct rtc_stream), .burst = sizeof(struct rtc_burst),
    .begin = begin, .free = free_stream, .wanted = wanted, .serve = serve,
};

struct datagram_stream *rtc_stream_get(struct rtc_service *s, struct live_source *src)
{
    return datagram_stream_get(&s->streams, &s->base, &kind, src);
}

struct rtc_wire *rtc_stream_wire(struct datagram_stream *st)
{
    return stream_of(st)->wire;
}

void rtc_stream_set_publisher(struct datagram_stream *st, struct rtc_peer *p)
{
    stream_of(st)->publisher = p;
}

struct rtc_peer *rtc_stream_publisher(const struct datagram_stream *st)
{
    return stream_of(st)->publisher;
}
