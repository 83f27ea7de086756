/* SPDX-License-Identifier: MIT */
/* look.c - what is to be known of players now and then: once a second, in one coroutine for all. */
#include "base/log.h"
#include "serve/srt/impl.h"
#include "serve/srt/stream.h"
#include "session/place.h"

#define MERGE_LEAST CO_MS(4) /* a tick of timers */

co_usec srt_play_every(const struct conf *conf, co_usec latency)
{
    co_usec every = conf->srt_server.merge;

    if (every > latency / 5)
        every = latency / 5;
    return every > MERGE_LEAST ? every : MERGE_LEAST;
}

void srt_play_count(struct srt_peer *p)
{
    const struct srt_sender_stat *s = &p->conn.sender.stat;

    live_source_sent(p->base.src, s->bytes - p->play.counted, s->dropped - p->play.dropped);
    p->play.counted = s->bytes;
    p->play.dropped = s->dropped;
}

static void log_skips(struct srt_peer *p)
{
    const struct srt_sender_stat *s = &p->conn.sender.stat;

    if ((uint32_t)s->skips == p->play.skips)
        return;
    log_warn("slow player: it goes on at a key frame; %llu times so far, packets=%llu, "
             "pktSndLoss=%llu, pktRetrans=%llu, pktSndDrop=%llu", (unsigned long long)s->skips,
             (unsigned long long)s->sent, (unsigned long long)s->lost,
             (unsigned long long)s->repeated, (unsigned long long)s->dropped);
    p->play.skips = (uint32_t)s->skips;
}

static void log_sample(const struct srt_peer *p, co_usec now)
{
    const struct srt_sender_stat *stat = &p->conn.sender.stat;
    const struct session *s = &p->base;

    log_always(LOG_TRACE, "%s Transport Stats # pktSent=%llu, pktSndLoss=%llu, pktRetrans=%llu, "
               "pktSndDrop=%llu", sampled_name(SAMPLED_SRT_PLAY), (unsigned long long)stat->sent,
               (unsigned long long)stat->lost, (unsigned long long)stat->repeated,
               (unsigned long long)stat->dropped);
    log_always(LOG_TRACE, "%s time=%lld, packets=%llu, okbps=" KBPS_FMT ", ikbps=" KBPS_FMT,
               sampled_name(SAMPLED_SRT_PLAY), us_to_ms(now - s->began_at),
               (unsigned long long)stat->sent, KBPS_ARGS(&s->out_kbps), KBPS_ARGS(&s->in_kbps));
}

/* Why it is to end; NULL: it is not. */
static err_t check(struct session *s, bool *changed)
{
    err_t err = session_play_check(s, changed);

    if (!err && *changed && !s->vhost->srt.enabled)
        return err_new(ERR_VHOST_DISABLED, "the configuration changed: srt of %s is off",
                       s->vhost->name);
    return err;
}

void srt_play_look(struct srt_peer *p, co_usec now)
{
    bool changed;
    err_t err;

    if (p->state != SRT_PLAYS)
        return;
    err = check(&p->base, &changed);
    if (err) {
        srt_peer_leave(p, err);
        return;
    }
    if (changed)
        p->play.every = srt_play_every(p->base.conf, p->conn.agreed.send_latency);
    srt_play_count(p);
    co_set_cid(p->cid);
    session_log_as_client(p->base.env, p->ip);
    log_skips(p);
    if (session_sample(&p->base, SAMPLED_SRT_PLAY, now))
        log_sample(p, now);
}
