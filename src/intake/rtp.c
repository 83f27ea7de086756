/* SPDX-License-Identifier: MIT */
/* rtp.c - receives RTP tracks: packets and counters. */
#include "intake/rtp_impl.h"

#include "base/must.h"
#include "proto/rtp/header.h"

#include <stdlib.h>

enum { AHEAD_PART = 4 };

struct rtp_intake *rtp_intake_new(const struct rtp_intake_opts *opts)
{
    struct rtp_intake *r = must(calloc(1, sizeof(*r)));

    r->opts = *opts;
    r->metadata_due = true;
    return r;
}

void rtp_intake_end(struct rtp_intake *r)
{
    if (r && r->audio)
        rtp_intake_audio_stop(r);
}

void rtp_intake_free(struct rtp_intake *r)
{
    if (!r)
        return;
    for (unsigned i = 0; i < r->n; i++) {
        if (r->tracks[i].open)
            rtp_receiver_fini(&r->tracks[i].rx);
        rtp_unpacker_fini(&r->tracks[i].unpack);
    }
    rtp_intake_audio_free(r);
    (void)live_source_unref(r->src);
    free(r);
}

err_t rtp_intake_add(struct rtp_intake *r, const struct rtp_intake_medium *m, unsigned *track)
{
    struct rtp_unpacker_opts opts = { .fmt = m->fmt, .clock = m->clock, .channels = m->channels,
                                      .fmtp = m->fmtp, .keep_broken = r->opts.keep_broken };
    struct intake_track *t = &r->tracks[r->n];
    err_t err;

    if (r->n == RTP_INTAKE_TRACKS)
        return err_new(ERR_TOO_MANY, "%u tracks", r->n + 1);
    *t = (struct intake_track){ .kind = av_codec_row(m->fmt->codec)->kind,
                                .codec = m->fmt->codec, .channels = m->channels };
    err = rtp_unpacker_init(&t->unpack, &opts);
    if (err)
        return err;
    t->as = t->codec;
    if (!rtp_intake_audio_open(r, t))
        rtp_intake_describe(t);
    r->align.track[r->n].clock = t->unpack.clock;
    *track = r->n++;
    return NULL;
}

void rtp_intake_open(struct rtp_intake *r, unsigned track, const struct rtp_receiver_opts *rx)
{
    struct intake_track *t = &r->tracks[track];
    struct rtp_receiver_opts opts = *rx;

    opts.clock = t->unpack.clock;
    rtp_receiver_init(&t->rx, &opts);
    t->open = true;
}

void rtp_intake_begin(struct rtp_intake *r, struct live_source *src)
{
    r->src = live_source_ref(src);
}

const struct rtp_receiver *rtp_intake_receiver(const struct rtp_intake *r, unsigned track)
{
    return &r->tracks[track].rx;
}

void rtp_intake_over(struct rtp_intake *r, unsigned track)
{
    rtp_receiver_over(&r->tracks[track].rx);
}

void rtp_intake_wait(struct rtp_intake *r, unsigned track, co_usec wait)
{
    r->tracks[track].rx.order.wait = wait;
}

/* ---- key frames behind a gap */

/* Returns true if all packets of the key frame have arrived, up to its marker or a packet of
 * another time. */
static bool is_whole(const struct rtp_reorder *order, struct intake_ahead *a)
{
    const uint8_t *data;
    struct rtp_packet p;
    size_t size;

    for (; (data = rtp_reorder_find(order, a->to, &size)) != NULL; a->to++) {
        if (!rtp_parse(&p, data, size) || p.time != a->time || p.marker)
            return a->to > a->key || p.marker;
    }
    return false;
}

/* Returns when to give up on packets missing before the key frame, earlier than without it. */
static co_usec ahead_due(const struct intake_track *t)
{
    return t->rx.order.since + t->rx.order.wait / AHEAD_PART;
}

static void look_ahead(struct intake_track *t, co_usec now)
{
    struct intake_ahead *a = &t->ahead;

    if (!a->on)
        return;
    if (a->key <= t->rx.order.next) {
        a->on = false;
        return;
    }
    a->whole = a->whole || is_whole(&t->rx.order, a);
    if (!a->whole || now < ahead_due(t))
        return;
    a->on = false;
    rtp_reorder_skip_to(&t->rx.order, a->key);
}

/* Returns true only if this is certainly the first packet of the frame: another one that arrived
 * earlier may be its second. */
static bool is_first(const struct intake_track *t, const struct rtp_packet *p)
{
    const struct rtp_payload payload = { .data = p->payload, .size = p->payload_size };

    return rtp_unpack_begins(&t->unpack, &payload);
}

void rtp_intake_key(struct rtp_intake *r, unsigned track)
{
    struct intake_track *t = &r->tracks[track];
    int64_t seq = t->rx.seq;
    struct rtp_packet p;
    size_t size;
    const uint8_t *data = rtp_reorder_find(&t->rx.order, seq, &size);

    if (!data || !rtp_parse(&p, data, size) || !is_first(t, &p))
        return;
    if (!t->ahead.on || t->ahead.time != p.time || seq < t->ahead.key)
        t->ahead = (struct intake_ahead){ .on = true, .key = seq, .to = seq, .time = p.time };
}

bool rtp_intake_wants_key(const struct rtp_intake *r)
{
    for (unsigned i = 0; i < r->n; i++) {
        const struct intake_track *t = &r->tracks[i];

        if (t->open && t->kind == AV_VIDEO && t->rx.started && t->unpack.need_key)
            return true;
    }
    return false;
}

/* ---- packets */

enum rtp_put rtp_intake_put(struct rtp_intake *r, unsigned track, const uint8_t *data, size_t size,
                            co_usec now)
{
    struct intake_track *t = &r->tracks[track];
    enum rtp_put got = rtp_receiver_put(&t->rx, data, size, now);

    if (got != RTP_TAKEN)
        return got;
    rtp_intake_frames(r, t, now);
    if (t->ahead.on) {
        look_ahead(t, now);
        rtp_intake_frames(r, t, now);
    }
    return got;
}

void rtp_intake_sr(struct rtp_intake *r, unsigned track, uint32_t ssrc, const struct rtcp_sr *sr,
                   co_usec now)
{
    struct intake_track *t = &r->tracks[track];

    if (!t->open || (t->rx.started && ssrc != t->rx.ssrc))
        return;
    rtp_receiver_sr(&t->rx, ssrc, sr, now);
    rtp_align_sr(&r->align, track, sr, t->rx.timed ? t->rx.time : sr->time, now);
}

bool rtp_intake_report(struct rtp_intake *r, unsigned track, co_usec now, struct rtcp_block *b)
{
    return r->tracks[track].open && rtp_receiver_report(&r->tracks[track].rx, now, b);
}

static co_usec track_due(const struct intake_track *t)
{
    co_usec due = t->open ? rtp_receiver_deadline(&t->rx) : CO_FOREVER;

    return due != CO_FOREVER && t->ahead.on && t->ahead.whole ? ahead_due(t) : due;
}

co_usec rtp_intake_due(const struct rtp_intake *r)
{
    co_usec due = CO_FOREVER;

    for (unsigned i = 0; i < r->n; i++) {
        co_usec at = track_due(&r->tracks[i]);

        if (at != CO_FOREVER && (due == CO_FOREVER || at < due))
            due = at;
    }
    return due;
}

void rtp_intake_tick(struct rtp_intake *r, co_usec now)
{
    for (unsigned i = 0; i < r->n; i++) {
        if (!r->tracks[i].open)
            continue;
        look_ahead(&r->tracks[i], now);
        rtp_intake_frames(r, &r->tracks[i], now);
    }
}

void rtp_intake_stat(const struct rtp_intake *r, struct rtp_intake_stat *out)
{
    *out = (struct rtp_intake_stat){ .broken = r->no_memory };
    for (unsigned i = 0; i < r->n; i++) {
        const struct intake_track *t = &r->tracks[i];
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
}
