/* SPDX-License-Identifier: MIT */
/* publish.c - one that publishes MPEG-TS: read for all who play, and passed on as it came to those
 * who play by SRT.
 *
 * Media are taken in by its timer and by the reader; its coroutine looks after it once a second.
 */
#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "intake/ts.h"
#include "serve/srt/relay.h"

#include <stdlib.h>

#define LOOK CO_SECONDS(1)

/* Messages of a turn: to read one costs some microseconds, and a gap that is filled, or a sender
 * that says one time for all, makes thousands due at once. The rest is due in the next one. */
enum { TURN = 128 };

struct srt_publish {
    struct session_publisher publisher;
    struct ts_intake *intake;
    struct srt_relay relay;
};

/* ---- media */

static void take(struct srt_publish *pub, const struct srt_message *m, co_usec now)
{
    if (m->hole)
        ts_intake_hole(pub->intake);
    ts_intake_put(pub->intake, m->data, m->size);
    if (pub->relay.wire)
        srt_relay_put(&pub->relay, pub->intake, m->data, m->size, now);
}

/* ---- let in, and out */

err_t srt_publish_admit(struct srt_peer *p)
{
    const struct session *s = &p->base;
    const struct ts_intake_opts opts = { .sei_filter = s->conf->srt_server.sei_filter,
                                         .signature = s->env->signature };
    struct srt_publish *pub = must(calloc(1, sizeof(*pub)));
    err_t err = session_publisher_begin(&pub->publisher, &p->base, CLIENTS_SRT_PUBLISH);

    if (err) {
        free(pub);
        return err;
    }
    pub->intake = ts_intake_new(&opts);
    if (s->vhost->srt.srt_to_rtmp)
        ts_intake_begin(pub->intake, s->src);
    p->publish = pub;
    return NULL;
}

static void log_end_of(const struct srt_peer *p)
{
    const struct session *s = &p->base;
    struct srt_receiver_stat net;
    struct ts_intake_stat ts;

    ts_intake_stat(p->publish->intake, &ts);
    srt_receiver_stat(p->conn.receiver, &net);
    log_trace("SRT publisher of %s sent %llu packets, lost=%llu, repeated=%llu, dropped=%llu, "
              "belated=%llu, undecrypted=%llu; TS %llu packets, %llu frames of video, %llu of "
              "sound, broken=%llu, jumps=%llu, skipped=%llu", live_source_name(s->src),
              (unsigned long long)net.received, (unsigned long long)net.lost,
              (unsigned long long)net.repeated, (unsigned long long)net.dropped,
              (unsigned long long)net.belated, (unsigned long long)net.undecrypted,
              (unsigned long long)ts.ts.packets, (unsigned long long)ts.video_frames,
              (unsigned long long)ts.audio_frames, (unsigned long long)ts.ts.broken,
              (unsigned long long)ts.ts.jumps, (unsigned long long)ts.ts.skipped);
}

/* What came and is not due yet: it has said that no more comes. Yields. */
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
    srt_relay_end(&pub->relay, p);
    if (!pub->publisher.place.replaced) /* else the stream is another's */
        ts_intake_end(pub->intake);
    session_publisher_end(&pub->publisher, why);
    ts_intake_free(pub->intake);
    free(pub);
}

bool srt_publish_relays(const struct srt_peer *p)
{
    return p->publish && p->publish->relay.wire;
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
    if (any) /* timers come here too, when the publisher is long gone */
        pub->publisher.place.active_at = now;
    if (any && ts_intake_speaks(pub->intake))
        session_publisher_media(&pub->publisher);
}

/* ---- its coroutine */

static void log_sample(struct session_publisher *publisher, co_usec now)
{
    const struct srt_peer *p = container_of(publisher->s, struct srt_peer, base);
    const struct session *s = publisher->s;
    const char *name = sampled_name(SAMPLED_SRT_PUBLISH);
    struct srt_receiver_stat net;

    srt_receiver_stat(p->conn.receiver, &net);
    log_always(LOG_TRACE,
               "%s Transport Stats # pktRecv=%llu, pktRcvLoss=%llu, pktRcvRetrans=%llu, "
               "pktRcvDrop=%llu", name, (unsigned long long)net.received,
               (unsigned long long)net.lost, (unsigned long long)net.repeated,
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
    session_publisher_silence(&pub->publisher, p->base.conf->srt_server.peer_idle_timeout);
    srt_relay_begin(&pub->relay, p);
    co_stack_trim();
    while (!err) {
        bool changed;

        (void)!co_park(co_to_second(LOOK * 2, co_now()));
        err = session_publisher_turn(&pub->publisher, &changed);
    }
    return err;
}
