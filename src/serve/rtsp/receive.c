/* SPDX-License-Identifier: MIT */
/* receive.c - packets that come in, and reports of both sides. */
#include "serve/rtsp/receive.h"

#include "base/log.h"
#include "proto/rtp/header.h"
#include "serve/rtsp/receive_impl.h"

enum { IN_ORDER = 1, WINDOW = RTP_REORDER_MAX };

#define REPORT_EACH CO_SECONDS(5) /* RFC 3550 section 6.2 */

void rtsp_receive_begin(struct rtsp_receive *r, struct live_source *src, bool datagrams,
                        co_usec now)
{
    r->src = live_source_ref(src);
    r->report_at = now + REPORT_EACH;
    r->metadata_due = true;
    for (unsigned i = 0; i < r->n_tracks; i++) {
        struct receive_track *t = &r->tracks[i];
        struct rtp_receiver_opts opts = { .type = t->type, .clock = t->unpack.clock,
                                          .window = datagrams ? WINDOW : IN_ORDER,
                                          .wait = r->opts.jitter };

        r->align.track[i].clock = t->unpack.clock;
        if (!t->set_up) {
            log_warn("RTSP: track %u, %s, was not set up and is left out", t->media,
                     av_codec_name(t->codec));
            continue;
        }
        rtp_receiver_init(&t->rx, &opts);
        t->open = true;
    }
}

static struct receive_track *track_of(struct rtsp_receive *r, unsigned media)
{
    struct receive_track *t = media < r->n ? r->media[media].track : NULL;

    return t && t->open ? t : NULL;
}

/* ---- RTCP */

static void hear_report(struct rtsp_receive *r, struct receive_track *t,
                        const struct rtcp_packet *p, co_usec now)
{
    if (t->rx.started && p->ssrc != t->rx.ssrc)
        return;
    rtp_receiver_sr(&t->rx, p->ssrc, &p->sr, now);
    rtp_align_sr(&r->align, (unsigned)(t - r->tracks), &p->sr,
                 t->rx.timed ? t->rx.time : p->sr.time, now);
}

static void hear(struct rtsp_receive *r, struct receive_track *t, const uint8_t *data, size_t size,
                 co_usec now)
{
    struct rtcp_reader reader;
    struct rtcp_packet p;

    rtcp_begin(&reader, data, size);
    while (rtcp_next(&reader, &p)) {
        if (p.type == RTCP_SR)
            hear_report(r, t, &p, now);
        else if (p.type == RTCP_BYE && t->rx.started && p.ssrc == t->rx.ssrc)
            t->over = true;
    }
    r->dropped += reader.r.bad;
}

bool rtsp_receive_report(struct rtsp_receive *r, co_usec now, unsigned *media,
                         uint8_t out[RTSP_RECEIVE_REPORT], size_t *size)
{
    if (!r->src || now < r->report_at)
        return false;
    while (r->reporting < r->n_tracks) {
        struct receive_track *t = &r->tracks[r->reporting++];
        struct rtcp_block b;
        struct wr w = { .buf = out, .cap = RTSP_RECEIVE_REPORT, .limit = RTSP_RECEIVE_REPORT };

        if (!t->open || !rtp_receiver_report(&t->rx, now, &b))
            continue;
        rtcp_put_rr(&w, t->ssrc, &b, 1);
        rtcp_put_cname(&w, t->ssrc, r->cname);
        *media = t->media;
        *size = w.len;
        return true;
    }
    r->reporting = 0;
    r->report_at = now + REPORT_EACH;
    return false;
}

/* ---- packets */

bool rtsp_receive_put(struct rtsp_receive *r, unsigned media, bool is_rtcp, const uint8_t *data,
                      size_t size, co_usec now)
{
    struct receive_track *t = track_of(r, media);
    enum rtp_put got;

    if (!t) {
        r->dropped++;
        return false;
    }
    got = is_rtcp ? RTP_IS_RTCP : rtp_receiver_put(&t->rx, data, size, now);
    if (got == RTP_IS_RTCP)
        hear(r, t, data, size, now);
    if (got != RTP_TAKEN)
        return false;
    t->over = false;
    rtsp_receive_frames(r, t, now);
    return true;
}

co_usec rtsp_receive_due(const struct rtsp_receive *r)
{
    co_usec due = r->src ? r->report_at : CO_FOREVER;

    for (unsigned i = 0; i < r->n_tracks; i++) {
        const struct receive_track *t = &r->tracks[i];
        co_usec at = t->open ? rtp_receiver_deadline(&t->rx) : CO_FOREVER;

        if (at != CO_FOREVER && at < due)
            due = at;
    }
    return due;
}

void rtsp_receive_tick(struct rtsp_receive *r, co_usec now)
{
    for (unsigned i = 0; i < r->n_tracks; i++) {
        if (r->tracks[i].open)
            rtsp_receive_frames(r, &r->tracks[i], now);
    }
}

bool rtsp_receive_over(const struct rtsp_receive *r)
{
    unsigned open = 0;

    for (unsigned i = 0; i < r->n_tracks; i++) {
        if (r->tracks[i].open && !r->tracks[i].over)
            return false;
        open += r->tracks[i].open;
    }
    return open > 0;
}

void rtsp_receive_stat(const struct rtsp_receive *r, struct rtsp_receive_stat *out)
{
    *out = (struct rtsp_receive_stat){ .dropped = r->dropped };
    for (unsigned i = 0; i < r->n_tracks; i++) {
        const struct receive_track *t = &r->tracks[i];
        double jitter;

        if (!t->open)
            continue;
        out->packets += t->rx.stats.packets;
        out->bytes += t->rx.stats.bytes;
        out->lost += rtp_stats_lost(&t->rx.stats);
        out->reordered += t->rx.order.reordered;
        out->late += t->rx.order.late;
        out->dropped += t->rx.bad + t->rx.other_type + t->rx.other_ssrc + t->rx.order.far;
        out->frames += t->unpack.stats.frames;
        out->broken += t->unpack.stats.broken;
        out->waiting += t->unpack.stats.waiting;
        jitter = rtp_stats_jitter(&t->rx.stats);
        if (jitter > out->jitter)
            out->jitter = jitter;
    }
    out->broken += r->no_memory;
}
