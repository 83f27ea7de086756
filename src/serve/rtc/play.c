/* SPDX-License-Identifier: MIT */
/* play.c - a player, from its admission to its end. It has no coroutine. */
#include "serve/rtc/play.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "live/policy.h"
#include "proto/rtp/extensions.h"

#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

enum {
    TURN = 64,             /* packets to one player per turn: client sockets can buffer this many */
    LATE = 32,             /* packets that may arrive late before the first one */
    SQUEEZE = 32,          /* old packets are shown this much faster */
    DELAYED = 100,         /* packets that request low delay */
    BUDGET = 64 * 1024,
    KEPT_FROM = 3 << 15,   /* base for unwrapping a publisher's numbers: far from 0 */
    AGAIN_VIDEO = 1024,    /* retransmits in 10 s at 900 kbit/s; and of audio */
    AGAIN_AUDIO = 256,
};

#define BEHIND CO_SECONDS(2)     /* limit of a full TCP connection */
#define YOUNG CO_SECONDS(1)      /* if the key frame is older, request a new one */

static struct rtp_log *log_of(const struct rtc_peer *p)
{
    return rtc_wire_log(rtc_stream_wire(p->base.stream));
}

/* ---- packets as sent */

static int64_t shown(const struct rtc_span *s, int64_t ticks)
{
    int64_t since = ticks > s->key ? ticks - s->key : 0;

    return ticks > s->edge ? ticks : s->out + since * s->width / (s->edge - s->key + 1);
}

/* Returns span i; 0 is the newest. */
static const struct rtc_span *span_at(const struct rtc_play_track *t, unsigned i)
{
    return i < t->n ? &t->spans[i] : &t->more[i - t->n];
}

static int64_t begin_of(const struct rtc_span *s)
{
    return s->first + s->delta;
}

const struct rtc_span *rtc_play_span(const struct rtc_play_track *t, int64_t index)
{
    for (unsigned i = 0; i < t->n + t->n_more; i++) {
        const struct rtc_span *s = span_at(t, i);

        if (index >= begin_of(s) - (begin_of(s) == t->begin ? LATE : 0))
            return s;
    }
    return NULL;
}

/* [playout-delay] of Google: 12 bits minimum, 12 bits maximum, in units of 10 ms. */
static const uint8_t little_delay[] = { 0x00, 0x03, 0xe8 };

static size_t put_extensions(const struct rtc_play_track *t, const struct rtp_log_entry *e,
                             bool delay, uint8_t *out, size_t room)
{
    struct rtp_ext v[SDP_EXTS];
    unsigned n = 0;

    for (size_t at = 0; at + 2 <= e->ext_size; at += 2 + (size_t)e->ext[at + 1]) {
        uint8_t kind = e->ext[at], size = e->ext[at + 1];

        if (at + 2 + size <= e->ext_size && kind < SDP_EXTS && t->ext[kind] && n < SDP_EXTS - 1)
            v[n++] = (struct rtp_ext){ t->ext[kind], size, e->ext + at + 2 };
    }
    if (delay)
        v[n++] = (struct rtp_ext){ t->ext[SDP_EXT_PLAYOUT_DELAY], sizeof(little_delay),
                                   little_delay };
    return n > 0 ? rtp_ext_build(out, room, v, n) : 0;
}

size_t rtc_play_head(const struct rtc_play_track *t, const struct rtc_span *s,
                     const struct rtp_log_entry *e, uint8_t out[RTC_HEAD_MAX])
{
    int64_t index = e->number + s->delta;
    bool delay = index < t->delay_until;
    size_t size = 0;

    rtp_build(out, e->marker, t->type, (uint16_t)(uint64_t)index,
              t->base + (uint32_t)(uint64_t)shown(s, e->ticks), t->ssrc);
    if (e->ext_size > 0 || delay)
        size = put_extensions(t, e, delay, out + RTP_HEADER, RTC_HEAD_MAX - RTP_HEADER);
    if (size > 0)
        out[0] |= 0x10;
    return RTP_HEADER + size;
}

/* ---- numbers and times of the publisher: keep_original_ssrc */

/* Starts at this packet, if it has the SSRC named in the answer and the numbers increase. */
static void originate(const struct rtc_peer *p, struct rtc_play_track *t,
                      const struct rtp_log_entry *e)
{
    const struct rtc_peer *publisher = rtc_stream_publisher(p->base.stream);
    enum av_kind kind = e->track == 0 ? AV_VIDEO : AV_AUDIO;
    int64_t shift = 0, numbers, ticks, index;

    t->keeps = publisher && rtc_publish_source(publisher, kind, &shift) == t->ssrc;
    if (!t->keeps)
        return;
    rtc_wire_relay_shift(rtc_stream_wire(p->base.stream), kind, &numbers, &ticks);
    index = rtp_unwrap16(t->packets > 0 ? t->next : KEPT_FROM,
                         (uint16_t)(uint64_t)(e->number - numbers - shift));
    if (t->packets == 0) {
        t->base = (uint32_t)(uint64_t)-ticks;
        t->begin = index;
    }
    t->keeps = t->packets == 0 || index >= t->next;
    if (t->keeps)
        t->next = index;
}

/* ---- spans */

static void keep_more(struct rtc_play_track *t)
{
    t->n_more += t->n_more < RTC_SPANS_MORE;
    memmove(&t->more[1], &t->more[0], (RTC_SPANS_MORE - 1) * sizeof(t->more[0]));
    t->more[0] = t->spans[RTC_SPANS - 1];
}

static struct rtc_span *open_span(struct rtc_play_track *t, const struct rtp_log_entry *e)
{
    struct rtc_span *s = &t->spans[0];

    if (t->n == RTC_SPANS && t->more)
        keep_more(t);
    t->n += t->n < RTC_SPANS;
    memmove(&t->spans[1], &t->spans[0], (RTC_SPANS - 1) * sizeof(t->spans[0]));
    *s = (struct rtc_span){ .first = e->number, .delta = t->next - e->number,
                            .first_ticks = e->ticks, .edge = INT64_MIN };
    t->gap = false;
    return s;
}

/* Begins a span after frames were left out; old packets keep their speed. */
static struct rtc_span *go_on_span(struct rtc_play_track *t, const struct rtp_log_entry *e)
{
    struct rtc_span was = t->spans[0], *s = open_span(t, e);

    s->key = was.key;
    s->edge = was.edge;
    s->out = was.out;
    s->width = was.width;
    return s;
}

/* Returns the bytes from that key frame on, and the latest time among them. */
static size_t measure(const struct rtp_log *log, uint64_t key, int64_t *edge)
{
    struct rtp_log_entry e;
    size_t bytes = 0;

    *edge = INT64_MIN;
    for (; bytes <= LIVE_PREFETCH_BYTES && rtp_log_get(log, key, &e); key++) {
        if (e.track != 0)
            continue;
        bytes += e.size;
        *edge = e.ticks > *edge ? e.ticks : *edge;
    }
    return bytes;
}

/* Compresses the timeline of old packets: it ends at the live edge, after everything sent before
 * and before everything to come. */
static void squeeze(const struct rtc_play_track *t, struct rtc_span *s, int64_t edge, bool again)
{
    int64_t end = edge + t->clock / 90; /* 11 ms */

    s->key = s->first_ticks;
    s->edge = edge;
    s->width = (edge - s->key) / SQUEEZE;
    s->out = edge - s->width;
    if (again && s->out <= t->last)
        s->out = t->last + 1;
    if (s->out + s->width > end)
        s->width = end > s->out ? end - s->out : 1;
    s->width++;
}

/* With the publisher's numbers, packets sent again keep theirs. */
static void begin_span(const struct rtc_peer *p, struct rtc_play_track *t,
                       const struct rtp_log_entry *e, int64_t edge)
{
    if (t->keeps && t->n == 0)
        originate(p, t, e);
    if (!t->keeps)
        squeeze(t, open_span(t, e), edge, t->packets > 0);
    else if (t->n == 0)
        (void)open_span(t, e);
}

bool rtc_play_jump(struct rtc_peer *p, co_usec age, co_usec now)
{
    struct rtc_play *play = p->play;
    struct rtc_play_track *t = &play->tracks[0];
    const struct rtp_log *log = log_of(p);
    struct rtp_log_entry e;
    int64_t edge;
    uint64_t key;

    if (!t->on || !rtc_wire_join(rtc_stream_wire(p->base.stream), &key) ||
        (play->jumped && play->jumped_to == key && play->twice) || !rtp_log_get(log, key, &e) ||
        now - e.at > age || measure(log, key, &edge) > LIVE_PREFETCH_BYTES)
        return false;
    begin_span(p, t, &e, edge);
    play->twice = play->jumped && play->jumped_to == key;
    play->jumped = true;
    play->jumped_to = key;
    play->waits = false;
    if (play->audio_from < play->at)
        play->audio_from = play->at;
    play->at = key;
    return true;
}

static void request_key(struct rtc_peer *p, co_usec now)
{
    struct rtc_peer *publisher = rtc_stream_publisher(p->base.stream);

    if (publisher)
        rtc_publish_request_key(publisher, now);
}

static void forget_spans(struct rtc_play_track *t)
{
    t->n = t->n_more = 0;
    t->gap = false;
}

/* The log no longer has the player's next packet: it continues at the live edge with consecutive
 * numbers. */
static void lose_place(struct rtc_peer *p, uint64_t first, co_usec now)
{
    struct rtc_play *play = p->play;

    play->skips++;
    play->dropped += first - play->at;
    play->at = rtp_log_head(log_of(p));
    forget_spans(&play->tracks[0]); /* no older packet can be retransmitted */
    forget_spans(&play->tracks[1]);
    play->audio_from = play->at;
    play->waits = play->tracks[0].on;
    if (play->waits && (rtc_peer_is_full(p) || !rtc_play_jump(p, LIVE_PREFETCH, now)))
        request_key(p, now);
}

/* A full TCP connection keeps its position; a player too far behind skips to the next key frame. */
static bool is_held(struct rtc_peer *p, const struct rtp_log *log, co_usec now)
{
    struct rtc_play *play = p->play;
    struct rtp_log_entry e;

    if (!rtc_peer_is_full(p))
        return false;
    if (rtp_log_get(log, play->at, &e) && now - e.at >= BEHIND) {
        play->skips++;
        play->dropped += rtp_log_head(log) - play->at;
        play->at = play->audio_from = rtp_log_head(log);
        play->waits = play->tracks[0].on;
        request_key(p, now);
    }
    return true;
}

/* ---- turns */

static bool begins(struct rtc_play *play, const struct rtp_log_entry *e, uint64_t place)
{
    if (e->track == 1)
        return place >= play->audio_from;
    if (!play->waits)
        return true;
    play->waits = !e->key;
    return e->key;
}

/* Returns the span with a number reserved for a late packet, if any: a number is never used
 * twice. */
static const struct rtc_span *late_span(const struct rtc_play_track *t,
                                        const struct rtp_log_entry *e)
{
    const struct rtc_span *next = NULL, *s = NULL;

    for (unsigned i = 0; i < t->n + t->n_more; i++, next = s) {
        s = span_at(t, i);
        if (e->number >= s->first)
            return !next || e->number + s->delta < begin_of(next) ? s : NULL;
    }
    if (!s || begin_of(s) != t->begin || e->number < s->first - LATE || e->ticks < s->first_ticks)
        return NULL;
    return s;
}

/* Returns NULL if this player does not get the packet. */
static const struct rtc_span *span_for(const struct rtc_peer *p, struct rtc_play_track *t,
                                       const struct rtp_log_entry *e, uint64_t place)
{
    const struct rtc_span *s = &t->spans[0];
    bool waited = p->play->waits;

    if (!t->on || !begins(p->play, e, place))
        return NULL;
    if (t->keeps && t->n == 0)
        originate(p, t, e);
    if (t->n == 0 || (e->track == 0 && waited && !t->keeps))
        s = open_span(t, e);
    else if (t->gap && !e->late)
        s = go_on_span(t, e);
    return e->number >= s->first ? s : late_span(t, e);
}

/* ---- paths that are too slow */

/* Sends less from the next frame on, but more only at a frame that does not need the omitted
 * ones. */
static void choose(struct rtc_play *play, const struct rtp_log_entry *e)
{
    enum rtc_quality_takes takes = play->quality.takes;

    if (e->key)
        play->key_frame = e->ticks;
    if (e->key || (e->ticks != play->frame && play->takes != RTC_QUALITY_KEYS))
        play->takes = takes;
    play->frame = e->ticks;
}

static bool is_left_out(struct rtc_play *play, const struct rtp_log_entry *e)
{
    struct rtc_play_track *t = &play->tracks[0];
    bool out;

    if (e->track != 0 || !t->on || (play->takes | play->quality.takes) == RTC_QUALITY_ALL)
        return false;
    if (!e->late)
        choose(play, e);
    out = play->takes == RTC_QUALITY_KEYS ? e->ticks != play->key_frame
                                       : play->takes == RTC_QUALITY_NEEDED && e->spare;
    if (!out || play->waits)
        return out;
    if (!t->more)
        t->more = must(calloc(RTC_SPANS_MORE, sizeof(*t->more)));
    t->keeps = false;
    t->gap |= !e->late;
    play->left_out++;
    return true;
}

static void put(struct rtc_burst *b, struct rtc_play *play, const struct rtp_log_entry *e,
                 uint64_t place)
{
    struct rtc_play_track *t = &play->tracks[e->track];
    const struct rtc_span *s = is_left_out(play, e) ? NULL : span_for(b->peer, t, e, place);
    uint8_t head[RTC_HEAD_MAX];
    int64_t index;
    size_t size;

    if (!s)
        return;
    index = e->number + s->delta;
    size = rtc_play_head(t, s, e, head);
    size = rtc_burst_add(b, head, size, e->data, e->size, (uint64_t)index);
    play->budget += (int64_t)size / 5;
    t->packets++;
    t->bytes += e->size;
    if (index < t->next)
        return;
    t->next = index + 1;
    t->last = shown(s, e->ticks);
    play->report_due |= !t->reported;
}

bool rtc_play_turn(struct rtc_peer *p, co_usec now)
{
    struct rtc_burst *b = p->service->streams.burst;
    struct rtc_play *play = p->play;
    const struct rtp_log *log = log_of(p);
    struct rtp_log_entry e;
    unsigned n = 0;

    if (play->at < rtp_log_first(log))
        lose_place(p, rtp_log_first(log), now);
    if (play->at == rtp_log_head(log) || is_held(p, log, now))
        return false;
    rtc_burst_begin(b, p);
    for (; n < TURN && rtp_log_get(log, play->at, &e); n++)
        put(b, play, &e, play->at++);
    rtc_burst_end(b);
    if (play->budget > BUDGET)
        play->budget = BUDGET;
    if (play->report_due)
        rtc_play_report(p, now);
    return play->at < rtp_log_head(log);
}

/* ---- begin and end */

static void playing(const struct session *s, struct live_sender_stat *out)
{
    const struct rtc_peer *p = container_of(s, const struct rtc_peer, base.session);
    struct rtp_log_entry next;

    out->dropped = p->play->dropped + p->play->left_out;
    if (rtp_log_get(log_of(p), p->play->at, &next))
        out->lag = co_now() - next.at;
    if (p->play->waits)
        out->state = LIVE_WAIT_KEY;
    else if (rtc_peer_is_full(p) || p->play->takes != RTC_QUALITY_ALL)
        out->state = LIVE_WINDOW_FULL;
    else
        out->state = LIVE_COLLECT;
}

err_t rtc_play_admit(struct rtc_peer *p)
{
    err_t err = session_play_begin(&p->base.session, CLIENTS_RTC_PLAY,
                                   p->req ? p->req->bearer : NULL);

    if (err)
        return err;
    p->base.stream = rtc_stream_get(p->service, p->base.session.src);
    p->play = must(calloc(1, sizeof(*p->play)));
    p->base.session.playing = playing;
    return NULL;
}

static void open_track(const struct rtc_peer *p, unsigned i)
{
    const struct sdp_track *agreed = &p->agreed.tracks[i == 0 ? AV_VIDEO : AV_AUDIO];
    struct rtc_play_track *t = &p->play->tracks[i];
    uint32_t random[3];

    must_be(RAND_bytes((unsigned char *)random, sizeof(random)) == 1);
    *t = (struct rtc_play_track){ .on = agreed->on, .type = agreed->type,
                                  .rtx_type = agreed->rtx_type, .ssrc = agreed->ssrc,
                                  .rtx_ssrc = agreed->rtx_ssrc, .clock = agreed->clock,
                                  .base = random[0],
                                  .keeps = p->base.session.vhost->rtc.keep_original_ssrc };
    memcpy(t->ext, agreed->ext, sizeof(t->ext));
    /* far from the wrap, as recommended in [RFC 3711] 3.3.1 */
    t->begin = t->next = LATE + (random[1] & 0x7fff);
    t->rtx_next = random[2] & 0x7fff;
    if (i == 0 && t->ext[SDP_EXT_PLAYOUT_DELAY] && p->base.session.vhost->rtc.min_latency)
        t->delay_until = t->begin + DELAYED;
    if (t->on && p->srtp_out)
        t->on = srtp_out_source(p->srtp_out, t->ssrc, i == 0 ? AGAIN_VIDEO : AGAIN_AUDIO);
}

/* Starts at the newest key frame, or the next one. */
static void join(struct rtc_peer *p, co_usec now)
{
    struct rtc_play *play = p->play;
    struct rtp_log_entry e;

    play->at = play->audio_from = rtp_log_head(log_of(p));
    play->waits = play->tracks[0].on;
    if (!play->waits)
        return;
    if (!rtc_play_jump(p, LIVE_PREFETCH, now) || !rtp_log_get(log_of(p), play->at, &e) ||
        now - e.at > YOUNG)
        request_key(p, now);
}

void rtc_play_connected(struct rtc_peer *p, co_usec now)
{
    for (unsigned i = 0; i < RTP_LOG_TRACKS; i++)
        open_track(p, i);
    p->play->budget = BUDGET;
    rtc_stream_add(p);
    if (p->base.state == DATAGRAM_ENDING)
        return;
    join(p, now);
    if (rtc_play_turn(p, now))
        rtc_stream_late(p);
    rtc_burst_send(p->service->streams.burst);
}

static void log_end_of(const struct rtc_peer *p)
{
    const struct rtc_play *play = p->play;
    const struct rtc_play_track *v = &play->tracks[0], *a = &play->tracks[1];

    log_trace("RTC player of %s got packets: video=%u, audio=%u, lost=%u, nacks=%llu, "
              "repeated=%llu, PLI=%llu, skips to a key frame=%llu, left out=%llu, round trip "
              "%lld ms", live_source_name(p->base.session.src), v->packets, a->packets,
              v->lost + a->lost, (unsigned long long)play->nacks,
              (unsigned long long)play->retransmitted, (unsigned long long)play->plis,
              (unsigned long long)play->skips, (unsigned long long)play->left_out,
              us_to_ms(play->rtt));
    if (p->srtp_out && srtp_out_refused(p->srtp_out) > 0)
        log_warn("RTC player of %s: %llu packets were not sent because their sequence numbers had "
                 "been used",
                 live_source_name(p->base.session.src),
                 (unsigned long long)srtp_out_refused(p->srtp_out));
}

void rtc_play_end(struct rtc_peer *p, err_t why)
{
    if (p->connected)
        log_end_of(p);
    if (datagram_stream_has(&p->base.player)) {
        rtc_play_count(p);
        rtc_stream_remove(p);
    }
    session_play_end(&p->base.session, why);
    datagram_stream_put(p->base.stream);
    p->base.stream = NULL;
    for (unsigned i = 0; i < RTP_LOG_TRACKS; i++)
        free(p->play->tracks[i].more);
    free(p->play->recent);
    free(p->play);
    p->play = NULL;
}

/* ---- once a second */

void rtc_play_count(struct rtc_peer *p)
{
    struct rtc_play *play = p->play;

    live_source_sent(p->base.session.src, p->base.session.out - play->counted,
                     play->dropped - play->counted_dropped);
    play->counted = p->base.session.out;
    play->counted_dropped = play->dropped;
}

static void log_skips(struct rtc_peer *p)
{
    struct rtc_play *play = p->play;

    if (play->skips == play->logged_skips)
        return;
    log_warn("slow player: it goes on at a key frame; %llu times so far, packets=%llu, nacks=%llu, "
             "repeated=%llu", (unsigned long long)play->skips, (unsigned long long)p->sent,
             (unsigned long long)play->nacks, (unsigned long long)play->retransmitted);
    play->logged_skips = play->skips;
}

static void log_takes(struct rtc_peer *p)
{
    struct rtc_play *play = p->play;

    if (play->takes == play->logged_takes)
        return;
    log_trace("RTC: video frames sent for its path: %s (round trip %lld ms, lost=%u, left out=%llu "
              "packets)", rtc_quality_name(play->takes), us_to_ms(play->rtt), play->tracks[0].lost,
              (unsigned long long)play->left_out);
    play->logged_takes = play->takes;
}

void rtc_play_log_sample(const struct datagram_client *c, co_usec now)
{
    const struct rtc_peer *p = container_of(c, const struct rtc_peer, base);
    const struct session *s = &c->session;
    struct rtc_client_stat rtc = { 0 };

    rtc_play_stat(p, &rtc);
    log_always(LOG_TRACE, "%s time=%lld, packets=%llu, lost=%llu, nacks=%llu, repeated=%llu, "
               "plis=%llu, rtt=%lld ms, jitter=%lld ms, okbps=" KBPS_FMT ", ikbps=" KBPS_FMT,
               sampled_name(SAMPLED_RTC_PLAY), us_to_ms(now - s->began_at),
               (unsigned long long)p->sent, (unsigned long long)rtc.lost,
               (unsigned long long)rtc.nacks, (unsigned long long)rtc.retransmitted,
               (unsigned long long)rtc.plis, us_to_ms(rtc.rtt), us_to_ms(rtc.jitter),
               KBPS_ARGS(&s->out_kbps), KBPS_ARGS(&s->in_kbps));
}

err_t rtc_play_changed(struct datagram_client *c)
{
    if (c->session.vhost->rtc.enabled)
        return NULL;
    return err_new(ERR_RTC_DISABLED, "the configuration changed: rtc of %s is off",
                   c->session.vhost->name);
}

void rtc_play_check(struct datagram_client *c, co_usec now)
{
    struct rtc_peer *p = container_of(c, struct rtc_peer, base);

    rtc_play_report(p, now);
    rtc_play_count(p);
    log_skips(p);
    log_takes(p);
}
