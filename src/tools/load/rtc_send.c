/* SPDX-License-Identifier: MIT */
/* rtc_send.c - a publisher of sb_rtc_load. */
#include "proto/rtp/feedback.h"
#include "tools/load/rtc_peer.h"

#include "base/must.h"
#include "format/frame.h"
#include "tools/load/marker.h"

#include <string.h>

enum { FRAME_MAX = 16 << 20, PACKETS_MAX = 16384, REPORT_MAX = 512 };

/* Of the frame that is being sent, whoever sends it. */
static struct wr out;
static uint16_t sizes[PACKETS_MAX];
static size_t count;

static bool carries(enum av_codec codec)
{
    return codec == AV_H264 || codec == AV_H265 || codec == AV_AV1 || codec == AV_VP9 ||
           codec == AV_OPUS;
}

/* ---- life */

static void on_packet(struct rtp_sink *sink, uint8_t *head, size_t size, bool marker,
                      int64_t ticks)
{
    struct load_rtc_out_track *t = (struct load_rtc_out_track *)sink;

    rtp_sender_head(&t->numbers, head, marker, ticks, size);
    if (count < PACKETS_MAX)
        sizes[count++] = (uint16_t)(size + RTP_HEADER);
}

static void open_track(struct load_rtc_out_track *t, const struct load_source_track *from)
{
    const struct rtp_packer_opts opts = { .codec = from->codec, .sets = true,
                                          .mtu = LOAD_RTC_MTU };
    uint8_t random[RTP_SENDER_RANDOM];
    struct frame_reader r;
    struct frame f;
    err_t err = NULL;

    t->open = carries(from->codec) && rtp_packer_init(&t->packer, &opts);
    if (!t->open)
        return;
    t->sink = (struct rtp_sink){ .out = &out, .packet = on_packet, .head = RTP_HEADER };
    frame_begin(&r, from->config);
    if (from->config->config && frame_next(&r, &f))
        err = rtp_pack(&t->packer, &f, &t->sink);
    err_free(&err);
    for (size_t i = 0; i < sizeof(random); i++)
        random[i] = (uint8_t)(rand() >> 8);
    rtp_sender_init(&t->numbers, from->kind == AV_VIDEO ? LOAD_RTC_VIDEO : LOAD_RTC_AUDIO,
                    t->packer.clock ? t->packer.clock : AV_CLOCK, random);
    t->index = t->numbers.seq;
    t->kept = must(calloc(LOAD_RTC_KEPT, sizeof(*t->kept)));
}

struct load_rtc_send *load_rtc_send_new(const struct load_source *source)
{
    struct load_rtc_send *s = must(calloc(1, sizeof(*s)));

    if (!out.limit)
        wr_init(&out, FRAME_MAX);
    s->source = source;
    for (unsigned i = 0; i < source->n; i++)
        open_track(&s->tracks[i], &source->tracks[i]);
    load_play_begin(&s->play, &source->media, (unsigned)rand());
    return s;
}

void load_rtc_send_free(struct load_rtc_send *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < LOAD_SOURCE_TRACKS; i++) {
        if (!s->tracks[i].open)
            continue;
        rtp_packer_fini(&s->tracks[i].packer);
        free(s->tracks[i].kept);
    }
    free(s);
}

/* ---- frames */

static struct load_rtc_kept *slot(struct load_rtc_out_track *t, uint16_t seq)
{
    return &t->kept[seq % LOAD_RTC_KEPT];
}

static void say_packets(struct load_rtc *p, struct load_rtc_out_track *t)
{
    struct load_stat *s = &p->c->run->stat;
    const uint8_t *at = out.buf;

    for (size_t i = 0; i < count; at += sizes[i++]) {
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
}

static struct load_rtc_out_track *track_of(struct load_rtc_send *s, const struct frame *f)
{
    for (unsigned i = 0; i < s->source->n; i++) {
        if (s->source->tracks[i].kind == f->kind && s->source->tracks[i].codec == f->codec &&
            s->tracks[i].open)
            return &s->tracks[i];
    }
    return NULL;
}

static void say_message(struct load_rtc *p, const struct load_message *msg, uint64_t time)
{
    struct load_rtc_send *s = p->send;
    const struct av_packet *pkt = s->source->packets[msg - s->source->media.messages];
    struct frame_reader r;
    struct frame f;

    if (!pkt)
        return;
    frame_begin(&r, pkt);
    while (frame_next(&r, &f)) {
        struct load_rtc_out_track *t = track_of(s, &f);
        err_t err;

        if (!t)
            continue;
        f.dts += AV_MS((int64_t)time);
        f.pts += AV_MS((int64_t)time);
        if (msg->marker && !p->c->run->opts.no_marker)
            load_marker_put(&f, p->c->number++);
        out.len = count = 0;
        err = rtp_pack(&t->packer, &f, &t->sink);
        err_free(&err);
        say_packets(p, t);
    }
}

static void say_reports(struct load_rtc *p, co_usec now)
{
    struct load_rtc_send *s = p->send;
    int64_t time = (now - s->from) * (AV_CLOCK / 1000) / 1000;

    s->report_due = now + CO_SECONDS(1);
    for (unsigned i = 0; i < s->source->n; i++) {
        struct rtp_sender *n = &s->tracks[i].numbers;
        struct rtcp_sr sr;
        struct wr w;

        if (!s->tracks[i].open)
            continue;
        sr = rtp_sender_report(n, rtp_ticks(time, n->clock), load_wall());
        wr_init(&w, REPORT_MAX);
        rtcp_put_sr(&w, n->ssrc, &sr);
        rtcp_put_cname(&w, n->ssrc, "load");
        load_rtc_report(p, &w);
        wr_free(&w);
    }
}

co_usec load_rtc_send_due(const struct load_rtc *p)
{
    const struct load_rtc_send *s = p->send;
    co_usec due = s->from + CO_MS(s->next_time);

    return due < s->report_due ? due : s->report_due;
}

void load_rtc_send_tick(struct load_rtc *p, co_usec now)
{
    struct load_rtc_send *s = p->send;

    if (!s->next) {
        s->from = now;
        s->next = load_play_next(&s->play, &s->source->media, &s->next_time);
    }
    while (s->from + CO_MS(s->next_time) <= now) {
        load_hist_add(&p->c->run->stat.lag, now - s->from - CO_MS(s->next_time));
        say_message(p, s->next, s->next_time);
        s->next = load_play_next(&s->play, &s->source->media, &s->next_time);
    }
    if (now >= s->report_due)
        say_reports(p, now);
}

/* ---- what the server says */

static void again(struct load_rtc *p, uint32_t ssrc, uint16_t seq)
{
    for (unsigned i = 0; i < p->send->source->n; i++) {
        struct load_rtc_out_track *t = &p->send->tracks[i];

        if (!t->open || t->numbers.ssrc != ssrc || slot(t, seq)->seq != seq ||
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
