/* SPDX-License-Identifier: MIT */
/* rtsp.c - takes received packets; reads and writes reports. */
#include "intake/rtsp.h"

#include "base/log.h"
#include "intake/rtsp_impl.h"

enum { IN_ORDER = 1, WINDOW = 256 };

#define REPORT_EACH CO_SECONDS(5) /* RFC 3550 section 6.2 */

void rtsp_intake_begin(struct rtsp_intake *r, struct live_source *src, bool datagrams,
                        co_usec now)
{
    rtp_intake_begin(r->intake, src);
    r->begun = true;
    r->report_at = now + REPORT_EACH;
    for (unsigned i = 0; i < r->n_tracks; i++) {
        struct rtsp_track *t = &r->tracks[i];
        const struct rtp_receiver_opts opts = { .type = t->type,
                                                .window = datagrams ? WINDOW : IN_ORDER,
                                                .wait = r->opts.jitter };

        if (!t->set_up) {
            log_warn("RTSP: ignored track %u, %s: not set up", t->media,
                     av_codec_name(t->codec));
            continue;
        }
        rtp_intake_open(r->intake, i, &opts);
        t->open = true;
    }
}

static struct rtsp_track *track_of(struct rtsp_intake *r, unsigned media)
{
    struct rtsp_track *t = media < r->n ? r->media[media].track : NULL;

    return t && t->open ? t : NULL;
}

static unsigned number_of(const struct rtsp_intake *r, const struct rtsp_track *t)
{
    return (unsigned)(t - r->tracks);
}

/* ---- RTCP */

static void take_rtcp(struct rtsp_intake *r, struct rtsp_track *t, const uint8_t *data, size_t size,
                      co_usec now)
{
    const struct rtp_receiver *rx = rtp_intake_receiver(r->intake, number_of(r, t));
    struct rtcp_reader reader;
    struct rtcp_packet p;

    rtcp_begin(&reader, data, size);
    while (rtcp_next(&reader, &p)) {
        if (p.type == RTCP_SR)
            rtp_intake_sr(r->intake, number_of(r, t), p.ssrc, &p.sr, now);
        else if (p.type == RTCP_BYE && rx->started && p.ssrc == rx->ssrc)
            t->over = true;
    }
    r->dropped += reader.r.bad;
}

bool rtsp_intake_report(struct rtsp_intake *r, co_usec now, unsigned *media,
                         uint8_t out[RTSP_INTAKE_REPORT], size_t *size)
{
    if (!r->begun || now < r->report_at)
        return false;
    while (r->reporting < r->n_tracks) {
        unsigned number = r->reporting++;
        struct rtsp_track *t = &r->tracks[number];
        struct rtcp_block b;
        struct wr w = { .buf = out, .cap = RTSP_INTAKE_REPORT, .limit = RTSP_INTAKE_REPORT };

        if (!rtp_intake_report(r->intake, number, now, &b))
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

bool rtsp_intake_put(struct rtsp_intake *r, unsigned media, bool is_rtcp, const uint8_t *data,
                      size_t size, co_usec now)
{
    struct rtsp_track *t = track_of(r, media);
    enum rtp_put got;

    if (!t) {
        r->dropped++;
        return false;
    }
    got = is_rtcp ? RTP_IS_RTCP : rtp_intake_put(r->intake, number_of(r, t), data, size, now);
    if (got == RTP_IS_RTCP)
        take_rtcp(r, t, data, size, now);
    if (got == RTP_TAKEN)
        t->over = false;
    return got == RTP_TAKEN;
}

co_usec rtsp_intake_due(const struct rtsp_intake *r)
{
    co_usec due = rtp_intake_due(r->intake);

    if (r->begun && (due == CO_FOREVER || r->report_at < due))
        due = r->report_at;
    return due;
}

void rtsp_intake_tick(struct rtsp_intake *r, co_usec now)
{
    rtp_intake_tick(r->intake, now);
}

bool rtsp_intake_over(const struct rtsp_intake *r)
{
    unsigned open = 0;

    for (unsigned i = 0; i < r->n_tracks; i++) {
        if (r->tracks[i].open && !r->tracks[i].over)
            return false;
        open += r->tracks[i].open;
    }
    return open > 0;
}

void rtsp_intake_stat(const struct rtsp_intake *r, struct rtp_intake_stat *out)
{
    rtp_intake_stat(r->intake, out);
    out->dropped += r->dropped;
}
