/* SPDX-License-Identifier: MIT */
/* play.c - a player, from its admission to its end. It has no coroutine. */
#include "base/container_of.h"
#include "base/log.h"
#include "serve/srt/impl.h"
#include "wire/srt.h"

#define MAXBW 125000000 /* bytes per second: 1 Gbit/s */
#define MERGE_LEAST CO_MS(4) /* resolution of timers */

/* Bursts per turn, about half a millisecond. A NAK or a returning player may need more: the rest is
 * sent in the next turn. */
enum { TURN = 16 };

static co_usec every_of(const struct conf *conf, co_usec latency)
{
    co_usec every = conf->srt_server.merge;

    if (every > latency / 5)
        every = latency / 5;
    return every > MERGE_LEAST ? every : MERGE_LEAST;
}

/* ---- admission */

err_t srt_play_admit(struct srt_peer *p)
{
    err_t err = session_play_begin(&p->base.session, CLIENTS_SRT_PLAY, NULL);

    if (err)
        return err;
    p->base.ops = &srt_play_ops;
    p->base.stream = srt_stream_get(p->service, p->base.session.src);
    return NULL;
}

/* Finds the start of its media: the newest key frame, or the next one. */
static void find_begin(const struct srt_peer *p, struct srt_conn_opts *opts)
{
    struct srt_wire *wire = srt_stream_wire(p->base.stream);

    opts->log = srt_wire_log(wire);
    opts->lead = srt_wire_join(wire, &opts->from);
}

static void playing(const struct session *s, struct live_sender_stat *out)
{
    const struct srt_peer *p = container_of(s, const struct srt_peer, base.session);
    const struct srt_sender *sender = &p->conn.sender;
    struct srt_log_entry next;

    out->dropped = sender->stat.dropped;
    if (srt_log_get(sender->set.log, srt_sender_number(sender), &next))
        out->lag = co_now() - next.due;
    if (sender->skip_due)
        out->state = LIVE_WAIT_KEY;
    else if (srt_sender_is_full(sender))
        out->state = LIVE_WINDOW_FULL;
    else
        out->state = LIVE_COLLECT;
}

err_t srt_play_begin(struct srt_peer *p, const struct srt_conn_opts *opts)
{
    int64_t maxbw = p->base.session.conf->srt_server.maxbw;
    struct srt_conn_opts set = *opts;

    p->conn.agreed = opts->agreed;
    p->play = (struct srt_play){
        .every = every_of(p->base.session.conf, opts->agreed.send_latency),
    };
    srt_stream_add(p);
    find_begin(p, &set);
    set.maxbw = maxbw < 0 ? MAXBW : (uint64_t)maxbw;
    if (!srt_conn_send_begin(&p->conn, &set)) {
        srt_stream_remove(p);
        return err_new(ERR_NO_MEMORY, "SRT connection");
    }
    p->conn.sender.skip_due = !set.lead;
    p->base.session.playing = playing;
    return NULL;
}

/* ---- sending */

void srt_play_turn(struct srt_peer *p, co_usec now)
{
    struct srt_burst *b = p->service->streams.burst;

    for (unsigned n = 0; n < TURN && srt_conn_burst(&p->conn, b, now); n++)
        srt_peer_burst(p, b);
}

static void turn(struct datagram_client *c, co_usec now)
{
    struct srt_peer *p = container_of(c, struct srt_peer, base);

    if (c->state != DATAGRAM_ACTIVE)
        return;
    srt_play_turn(p, now);
    srt_peer_flush(p, now);
}

/* ---- once a second */

void srt_play_count(struct srt_peer *p)
{
    const struct srt_sender_stat *s = &p->conn.sender.stat;

    live_source_sent(p->base.session.src, s->bytes - p->play.counted, s->dropped - p->play.dropped);
    p->play.counted = s->bytes;
    p->play.dropped = s->dropped;
}

static void log_skips(struct srt_peer *p)
{
    const struct srt_sender_stat *s = &p->conn.sender.stat;

    if ((uint32_t)s->skips == p->play.skips)
        return;
    log_warn("slow player: it resumes at a key frame; %llu times so far, packets=%llu, "
             "pktSndLoss=%llu, pktRetrans=%llu, pktSndDrop=%llu", (unsigned long long)s->skips,
             (unsigned long long)s->sent, (unsigned long long)s->lost,
             (unsigned long long)s->retransmitted, (unsigned long long)s->dropped);
    p->play.skips = (uint32_t)s->skips;
}

static void log_sample(const struct datagram_client *c, co_usec now)
{
    const struct srt_peer *p = container_of(c, const struct srt_peer, base);
    const struct srt_sender_stat *stat = &p->conn.sender.stat;
    const struct session *s = &c->session;

    log_always(LOG_TRACE, "%s Transport Stats # pktSent=%llu, pktSndLoss=%llu, pktRetrans=%llu, "
               "pktSndDrop=%llu", sampled_name(SAMPLED_SRT_PLAY), (unsigned long long)stat->sent,
               (unsigned long long)stat->lost, (unsigned long long)stat->retransmitted,
               (unsigned long long)stat->dropped);
    log_always(LOG_TRACE, "%s time=%lld, packets=%llu, okbps=" KBPS_FMT ", ikbps=" KBPS_FMT,
               sampled_name(SAMPLED_SRT_PLAY), us_to_ms(now - s->began_at),
               (unsigned long long)stat->sent, KBPS_ARGS(&s->out_kbps), KBPS_ARGS(&s->in_kbps));
}

static err_t changed(struct datagram_client *c)
{
    struct srt_peer *p = container_of(c, struct srt_peer, base);

    if (!c->session.vhost->srt.enabled)
        return err_new(ERR_VHOST_DISABLED, "the configuration changed: srt of %s is off",
                       c->session.vhost->name);
    p->play.every = every_of(c->session.conf, p->conn.agreed.send_latency);
    return NULL;
}

static void check(struct datagram_client *c, co_usec now)
{
    struct srt_peer *p = container_of(c, struct srt_peer, base);

    (void)now;
    srt_play_count(p);
    log_skips(p);
}

/* ---- end */

void srt_play_end(struct srt_peer *p, err_t why)
{
    if (datagram_stream_has(&p->base.player)) {
        srt_play_count(p);
        srt_stream_remove(p);
    }
    session_play_end(&p->base.session, why);
    datagram_stream_put(p->base.stream);
    p->base.stream = NULL;
}

static void close_player(struct datagram_client *c, err_t why)
{
    struct srt_peer *p = container_of(c, struct srt_peer, base);

    srt_play_end(p, why);
    srt_peer_close(p, why);
}

const struct datagram_client_ops srt_play_ops = {
    .close = close_player, .turn = turn, .sampled = SAMPLED_SRT_PLAY, .changed = changed,
    .check = check, .log_sample = log_sample,
};
