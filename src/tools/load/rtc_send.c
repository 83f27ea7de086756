/* SPDX-License-Identifier: MIT */
/* rtc_send.c - a publisher of sb_rtc_load. */
#include "proto/rtp/feedback.h"
#include "tools/load/rtc_peer.h"

#include "base/must.h"

#include <string.h>

enum { REPORT_MAX = 512 };

/* ---- life */

struct load_rtc_send *load_rtc_send_new(const struct load_media *source)
{
    const struct rtp_packer_opts opts = { .sets = true, .mtu = LOAD_RTC_MTU };
    struct load_rtc_send *s = must(calloc(1, sizeof(*s)));
    err_t err = load_out_init(&s->out, source, &opts, true);

    err_free(&err); /* a broken configuration is left out */
    for (unsigned i = 0; i < source->n; i++) {
        s->sent[i].index = s->out.tracks[i].numbers.seq;
        s->sent[i].kept = must(calloc(LOAD_RTC_KEPT, sizeof(*s->sent[i].kept)));
    }
    return s;
}

void load_rtc_send_free(struct load_rtc_send *s)
{
    if (!s)
        return;
    load_out_fini(&s->out);
    for (unsigned i = 0; i < LOAD_TRACKS; i++)
        free(s->sent[i].kept);
    free(s);
}

/* ---- frames */

static struct load_rtc_kept *slot(const struct load_rtc_sent *t, uint16_t seq)
{
    return &t->kept[seq % LOAD_RTC_KEPT];
}

static err_t say_packets(void *arg, unsigned track)
{
    struct load_rtc *p = arg;
    struct load_rtc_sent *t = &p->send->sent[track];
    struct load_stat *s = &p->c->run->stat;
    const uint16_t *sizes = load_packets.sizes;
    const uint8_t *at = load_packets.bytes.buf;

    for (size_t i = 0; i < load_packets.n; at += sizes[i++]) {
        struct load_rtc_kept *k = slot(t, (uint16_t)t->index);

        k->seq = (uint16_t)t->index;
        k->size = 0;
        if (sizes[i] + SRTP_TAIL <= (int)sizeof(k->data))
            k->size = (uint16_t)srtp_protect(p->out, k->data, at, RTP_HEADER, at + RTP_HEADER,
                                             sizes[i] - RTP_HEADER, t->index);
        t->index++;
        s->rtc.packets++;
        s->bytes_out += k->size;
        p->c->bytes += k->size;
        load_rtc_say(p, k->data, k->size);
    }
    s->messages++;
    return NULL;
}

static void say_reports(struct load_rtc *p, co_usec now)
{
    struct load_rtc_send *s = p->send;
    int64_t time = (now - s->play.from) * (AV_CLOCK / 1000) / 1000;

    s->report_due = now + CO_SECONDS(1);
    for (unsigned i = 0; i < s->out.source->n; i++) {
        struct wr w;

        if (!s->out.tracks[i].open)
            continue;
        wr_init(&w, REPORT_MAX);
        load_out_report(&s->out, i, time, &w);
        load_rtc_report(p, &w);
        wr_free(&w);
    }
}

co_usec load_rtc_send_due(const struct load_rtc *p)
{
    const struct load_rtc_send *s = p->send;
    co_usec due = s->play.media ? load_play_due(&s->play) : 0;

    return due < s->report_due ? due : s->report_due;
}

void load_rtc_send_tick(struct load_rtc *p, co_usec now)
{
    struct load_rtc_send *s = p->send;
    uint32_t *number = p->c->run->opts.no_marker ? NULL : &p->c->number;
    err_t err;

    if (!s->play.media)
        load_play_begin(&s->play, s->out.source, (unsigned)rand(), now);
    for (; load_play_due(&s->play) <= now; load_play_next(&s->play)) {
        load_hist_add(&p->c->run->stat.lag, now - load_play_due(&s->play));
        err = load_out_message(&s->out, s->play.msg, s->play.time, number, say_packets, p);
        err_free(&err); /* a broken frame is left out */
    }
    if (now >= s->report_due)
        say_reports(p, now);
}

/* ---- what the server says */

static void again(struct load_rtc *p, uint32_t ssrc, uint16_t seq)
{
    for (unsigned i = 0; i < p->send->out.source->n; i++) {
        const struct load_out_track *out = &p->send->out.tracks[i];
        const struct load_rtc_sent *t = &p->send->sent[i];

        if (!out->open || out->numbers.ssrc != ssrc || slot(t, seq)->seq != seq ||
            slot(t, seq)->size == 0)
            continue;
        p->c->run->stat.rtc.repaired++;
        load_rtc_say(p, slot(t, seq)->data, slot(t, seq)->size);
    }
}

static void say_missing(struct load_rtc *p, struct rtcp_feedback *f)
{
    uint16_t seq, more;

    while (rtcp_next_nack(f, &seq, &more)) {
        p->c->run->stat.rtc.nacks++;
        again(p, f->media, seq);
        for (unsigned i = 0; i < 16; i++) {
            if (!(more >> i & 1))
                continue;
            p->c->run->stat.rtc.nacks++;
            again(p, f->media, (uint16_t)(seq + 1 + i));
        }
    }
}

void load_rtc_send_rtcp(struct load_rtc *p, const uint8_t *data, size_t size)
{
    struct rtcp_reader r;
    struct rtcp_packet packet;
    struct rtcp_feedback f;

    rtcp_begin(&r, data, size);
    while (rtcp_next(&r, &packet)) {
        if (!rtcp_feedback(&packet, &f)) {
            p->c->run->stat.rtc.reports += packet.type == RTCP_RR;
            continue;
        }
        if (f.kind == RTCP_NACK)
            say_missing(p, &f);
        else if (f.kind == RTCP_PLI || f.kind == RTCP_FIR)
            p->c->run->stat.rtc.plis++;
    }
}
