/* SPDX-License-Identifier: MIT */
/* publish.c - a publisher of MPEG-TS: demuxed for all players, and relayed unchanged to SRT
 * players.
 *
 * Its timer and the socket's reader process the media; its coroutine checks it once a second.
 */
#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "intake/ts.h"
#include "serve/srt/impl.h"
#include "wire/srt.h"

#include <stdlib.h>

#define LOOK CO_SECONDS(1)

/* Messages per turn: reading one takes some microseconds, and a filled gap, or a sender with equal
 * timestamps, makes thousands due at once. The rest is read in the next turn. */
enum { TURN = 128 };

struct srt_publish {
    struct session_publisher publisher;
    struct ts_intake *intake;
    struct {
        struct srt_wire *wire; /* NULL: not relayed */
        uint64_t bytes;        /* relayed bytes */
        uint64_t key;          /* start of the newest key frame, in bytes */
        bool has_key;
    } relay;
};

/* ---- relaying packets to SRT players */

static void relay_begin(struct srt_publish *pub, struct srt_peer *p)
{
    const struct session *s = &p->base.session;

    /* without srt_to_rtmp, relaying is the only output */
    if (!s->conf->srt_server.relay && s->vhost->srt.srt_to_rtmp)
        return;
    p->base.stream = srt_stream_get(p->service, s->src);
    pub->relay.wire = srt_stream_wire(p->base.stream);
    srt_stream_relay_begin(p->base.stream);
}

static void relay_end(struct srt_publish *pub, struct srt_peer *p)
{
    if (!pub->relay.wire)
        return;
    srt_stream_relay_end(p->base.stream);
    pub->relay.wire = NULL;
    datagram_stream_put(p->base.stream);
    p->base.stream = NULL;
}

/* Relays a message that the intake has read. */
static void relay(struct srt_publish *pub, const struct srt_message *m, co_usec now)
{
    uint8_t tables[TS_TABLES_MAX];
    uint64_t key;

    srt_wire_relay_put(pub->relay.wire, m->data, m->size, now);
    pub->relay.bytes += m->size;
    if (!ts_intake_key(pub->intake, &key) || (pub->relay.has_key && key == pub->relay.key))
        return;
    pub->relay.key = key;
    pub->relay.has_key = true;
    srt_wire_relay_key(pub->relay.wire, pub->relay.bytes - key, tables,
                       ts_intake_tables(pub->intake, tables));
}

/* ---- media */

static void take(struct srt_publish *pub, const struct srt_message *m, co_usec now)
{
    if (m->hole)
        ts_intake_hole(pub->intake);
    ts_intake_put(pub->intake, m->data, m->size);
    if (pub->relay.wire)
        relay(pub, m, now);
}

void srt_publish_turn(struct srt_peer *p, co_usec now)
{
    struct srt_publish *pub = p->publish;
    struct srt_message m;
    bool any = false;

    if (pub->publisher.place.replaced)
        return;
    for (unsigned n = 0; n < TURN && srt_conn_next(&p->conn, &m, now); n++) {
        take(pub, &m, now);
        any = true;
    }
    if (any) /* a timer may fire long after the last packet */
        pub->publisher.place.active_at = now;
    if (any && ts_intake_is_ts(pub->intake))
        session_publisher_media(&pub->publisher);
}

static void turn(struct datagram_client *c, co_usec now)
{
    struct srt_peer *p = container_of(c, struct srt_peer, base);

    if (c->state != DATAGRAM_ACTIVE)
        return;
    srt_publish_turn(p, now);
    srt_peer_flush(p, now);
}

static const struct datagram_client_ops ops = { .turn = turn };

/* ---- admission and end */

err_t srt_publish_admit(struct srt_peer *p)
{
    const struct session *s = &p->base.session;
    const struct ts_intake_opts opts = { .sei_filter = s->conf->srt_server.sei_filter,
                                         .signature = s->env->signature };
    struct srt_publish *pub = must(calloc(1, sizeof(*pub)));
    err_t err = session_publisher_begin(&pub->publisher, &p->base.session, CLIENTS_SRT_PUBLISH);

    if (err) {
        free(pub);
        return err;
    }
    pub->intake = ts_intake_new(&opts);
    if (s->vhost->srt.srt_to_rtmp)
        ts_intake_begin(pub->intake, s->src);
    p->publish = pub;
    p->base.ops = &ops;
    return NULL;
}

static void log_end_of(const struct srt_peer *p)
{
    const struct session *s = &p->base.session;
    struct srt_receiver_stat net;
    struct ts_intake_stat ts;

    ts_intake_stat(p->publish->intake, &ts);
    srt_receiver_stat(p->conn.receiver, &net);
    log_trace("SRT publisher of %s sent %llu packets, lost=%llu, retransmitted=%llu, dropped=%llu, "
              "belated=%llu, undecrypted=%llu; TS %llu packets, %llu frames of video, %llu of "
              "audio, broken=%llu, jumps=%llu, skipped=%llu",
              live_source_name(s->src), (unsigned long long)net.received,
              (unsigned long long)net.lost, (unsigned long long)net.retransmitted,
              (unsigned long long)net.dropped, (unsigned long long)net.belated,
              (unsigned long long)net.undecrypted, (unsigned long long)ts.ts.packets,
              (unsigned long long)ts.video_frames, (unsigned long long)ts.audio_frames,
              (unsigned long long)ts.ts.broken, (unsigned long long)ts.ts.jumps,
              (unsigned long long)ts.ts.skipped);
}

/* Reads packets that are not due yet, because the peer has announced its end. Yields. */
static void take_rest(struct srt_peer *p)
{
    struct srt_message m;
    co_usec now = co_clock();

    if (p->conn.end != SRT_ENDED_SHUTDOWN)
        return;
    while (!p->publish->publisher.place.replaced &&
           srt_conn_next(&p->conn, &m, now + p->conn.agreed.recv_latency * 2)) {
        take(p->publish, &m, now);
        co_yield_if_due();
    }
}

void srt_publish_end(struct srt_peer *p, err_t why)
{
    struct srt_publish *pub = p->publish;

    if (p->conn.receiver) {
        take_rest(p);
        log_end_of(p);
    }
    p->publish = NULL;
    relay_end(pub, p);
    if (!pub->publisher.place.replaced) /* another publisher may have taken the stream */
        ts_intake_end(pub->intake);
    session_publisher_end(&pub->publisher, why);
    ts_intake_free(pub->intake);
    free(pub);
}

/* ---- the coroutine */

static void log_sample(struct session_publisher *publisher, co_usec now)
{
    const struct srt_peer *p = container_of(publisher->s, struct srt_peer, base.session);
    const struct session *s = publisher->s;
    const char *name = sampled_name(SAMPLED_SRT_PUBLISH);
    struct srt_receiver_stat net;

    srt_receiver_stat(p->conn.receiver, &net);
    log_always(LOG_TRACE,
               "%s Transport Stats # pktRecv=%llu, pktRcvLoss=%llu, pktRcvRetrans=%llu, "
               "pktRcvDrop=%llu", name, (unsigned long long)net.received,
               (unsigned long long)net.lost, (unsigned long long)net.retransmitted,
               (unsigned long long)net.dropped);
    log_always(LOG_TRACE, "%s time=%lld, packets=%llu, okbps=" KBPS_FMT ", ikbps=" KBPS_FMT, name,
               (long long)(now - s->began_at), (unsigned long long)net.received,
               KBPS_ARGS(&s->out_kbps), KBPS_ARGS(&s->in_kbps));
}

err_t srt_publish_run(struct srt_peer *p)
{
    struct srt_publish *pub = p->publish;
    err_t err = co_check();

    pub->publisher.sampled = SAMPLED_SRT_PUBLISH;
    pub->publisher.log_sample = log_sample;
    session_publisher_silence(&pub->publisher, p->base.session.conf->srt_server.peer_idle_timeout);
    relay_begin(pub, p);
    co_stack_trim();
    while (!err) {
        bool changed;

        (void)!co_park(co_to_second(LOOK * 2, co_now()));
        err = session_publisher_turn(&pub->publisher, &changed);
    }
    return err;
}
