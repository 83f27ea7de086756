/* SPDX-License-Identifier: MIT */
/* rtc_poll.c - a player of sb_rtc_load looks at RTP: what is missing it asks for, and reports. */
#include "proto/rtp/feedback.h"
#include "proto/rtp/header.h"
#include "tools/load/rtc_peer.h"
#include "tools/load/rtp.h"
#include "tools/load/watch.h"

#include <stdlib.h>

enum { REPORT_MAX = 1200, NACKS = 128, AGAIN_KEY_S = 1 };

void load_rtc_look_init(struct load_rtc_look *l)
{
    *l = (struct load_rtc_look){ .ssrc = (uint32_t)rand() << 1 | 1 };
}

void load_rtc_look_fini(struct load_rtc_look *l)
{
    for (int i = 0; i < 2; i++)
        rtp_nack_fini(&l->tracks[i].nack);
}

/* ---- packets */

static struct load_rtc_track *track_of(struct load_rtc_look *l, uint8_t type)
{
    for (int i = 0; i < 2; i++)
        if (l->tracks[i].on && l->tracks[i].type == type)
            return &l->tracks[i];
    return NULL;
}

static void count_nack(struct load_rtc *p, struct load_rtc_track *t)
{
    struct load_rtc_stat *s = &p->c->run->stat.rtc;

    s->lost += t->nack.given_up - t->given_up;
    s->repaired += t->nack.recovered - t->found;
    s->nacks += t->nack.requested - t->asked;
    t->given_up = t->nack.given_up;
    t->found = t->nack.recovered;
    t->asked = t->nack.requested;
}

/* False: it came behind a gap that nothing can be asked for in. */
static bool number(struct load_rtc *p, struct load_rtc_track *t, const struct rtp_packet *rtp,
                   co_usec now)
{
    int64_t seq = t->started ? rtp_unwrap16(t->seq, rtp->seq) : rtp->seq;
    bool fine;

    if (t->started && t->ssrc != rtp->ssrc) {
        rtp_nack_restart(&t->nack);
        rtp_stats_restart(&t->stats);
        seq = rtp->seq;
        p->c->run->stat.rtc.restarts++;
        t->seq = seq;
    }
    fine = rtp_nack_put(&t->nack, seq, now);
    rtp_stats_add(&t->stats, seq, rtp->time, rtp->payload_size, now);
    if (!t->started || seq > t->seq)
        t->seq = seq;
    t->started = true;
    t->ssrc = rtp->ssrc;
    count_nack(p, t);
    return fine;
}

static void look_at_video(struct load_rtc *p, struct load_rtc_track *t,
                          const struct rtp_packet *rtp)
{
    struct load_client *c = p->c;

    if (rtp->time != t->time) {
        t->time = rtp->time;
        t->key = false;
        c->have_marker = load_marker_find_in(&c->marker, rtp->payload, rtp->payload_size);
    }
    t->key |= load_rtp_is_key(t->codec, rtp->payload, rtp->payload_size);
    if (!rtp->marker)
        return;
    if (t->key)
        load_watch_key(c);
    load_watch_came(c, load_wall());
    if (c->have_marker)
        load_watch_marker(c, load_wall());
}

void load_rtc_look_rtp(struct load_rtc *p, const uint8_t *data, size_t size, co_usec now)
{
    struct load_client *c = p->c;
    struct load_rtc_stat *s = &c->run->stat.rtc;
    struct load_rtc_track *t;
    struct rtp_packet rtp;

    if (!rtp_parse(&rtp, data, size) || !(t = track_of(&p->look, rtp.type))) {
        s->odd++;
        return;
    }
    s->packets++;
    c->bytes += size;
    c->run->stat.bytes_in += size;
    c->read_at = now;
    load_watch_first(c);
    if (!number(p, t, &rtp, now))
        p->look.want_key = true;
    if (t->video)
        look_at_video(p, t, &rtp);
    else if (!p->look.tracks[AV_VIDEO].started)
        load_watch_came(c, load_wall());
}

void load_rtc_look_rtcp(struct load_rtc *p, const uint8_t *data, size_t size, co_usec now)
{
    struct rtcp_reader r;
    struct rtcp_packet packet;

    rtcp_begin(&r, data, size);
    while (rtcp_next(&r, &packet)) {
        if (packet.type != RTCP_SR)
            continue;
        p->c->run->stat.rtc.reports++;
        for (int i = 0; i < 2; i++) {
            struct load_rtc_track *t = &p->look.tracks[i];

            if (t->started && t->ssrc == packet.ssrc) {
                t->last_sr = (uint32_t)(packet.sr.ntp >> 16);
                t->sr_at = now;
            }
        }
    }
}

/* ---- what it says */

static co_usec round_trip(const struct load_rtc *p)
{
    return 2 * p->socket.link.delay;
}

static void put_report(struct load_rtc *p, struct wr *w, co_usec now)
{
    struct rtcp_block b[2];
    unsigned n = 0;

    for (int i = 0; i < 2; i++) {
        struct load_rtc_track *t = &p->look.tracks[i];

        if (t->started)
            b[n++] = load_rtp_block(&t->stats, t->ssrc, t->last_sr, t->sr_at);
    }
    rtcp_put_rr(w, p->look.ssrc, b, n);
    rtcp_put_cname(w, p->look.ssrc, "load");
    p->look.report_due = now + CO_SECONDS(1);
}

static bool wants_key(const struct load_rtc *p)
{
    const struct load_rtc_track *t = &p->look.tracks[AV_VIDEO];

    return t->started && (!p->c->have_key || p->look.want_key);
}

co_usec load_rtc_look_due(const struct load_rtc *p)
{
    co_usec due = p->look.report_due;

    for (int i = 0; i < 2; i++) {
        co_usec at = rtp_nack_due(&p->look.tracks[i].nack, round_trip(p));

        if (at != CO_FOREVER && at < due)
            due = at;
    }
    if (wants_key(p) && p->look.pli_due < due)
        due = p->look.pli_due;
    return due;
}

void load_rtc_look_tick(struct load_rtc *p, co_usec now)
{
    uint16_t seqs[NACKS];
    struct wr w;

    wr_init(&w, REPORT_MAX);
    if (now >= p->look.report_due)
        put_report(p, &w, now);
    for (int i = 0; i < 2; i++) {
        struct load_rtc_track *t = &p->look.tracks[i];
        unsigned n = rtp_nack_request(&t->nack, now, round_trip(p), seqs, NACKS);

        if (n > 0)
            rtcp_put_nack(&w, p->look.ssrc, t->ssrc, seqs, n);
        count_nack(p, t);
    }
    if (wants_key(p) && now >= p->look.pli_due) {
        if (p->look.pli_due) { /* not with the first packet: the key frame may be on its way */
            rtcp_put_pli(&w, p->look.ssrc, p->look.tracks[AV_VIDEO].ssrc);
            p->c->run->stat.rtc.plis++;
            p->look.want_key = false;
        }
        p->look.pli_due = now + CO_SECONDS(AGAIN_KEY_S);
    }
    load_rtc_report(p, &w);
    wr_free(&w);
}
