/* SPDX-License-Identifier: MIT */
/* rtp_report.c - sender reports in a wire of RTP, [RFC 3550] 6.4.1. */
#include "base/log.h"
#include "wire/rtp_impl.h"

/* A difference below this is ignored: it is the usual jitter of packets. Microseconds. */
#define NEAR INT64_C(100000)
/* A difference above FAR for FAR_TIME means that the stream stood still or the wall clock was set
 * forward. */
#define FAR INT64_C(1000000)
#define FAR_TIME INT64_C(10000000)

enum { SLEW = 1000 }; /* correction of one part in SLEW */

int64_t rtp_wire_wall_at(struct rtp_wire_wall *w, int64_t moment, int64_t came)
{
    int64_t now = moment * 100 / 9, zero = came - now, most = (now - w->moment) / SLEW, off;

    if (!w->known)
        *w = (struct rtp_wire_wall){ .known = true, .zero = zero, .moment = now, .behind = -1 };
    if (now <= w->moment) /* never goes back */
        return w->zero + w->moment;
    off = zero - w->zero;
    if (off < FAR)
        w->behind = -1;
    else if (w->behind < 0)
        w->behind = now;
    if (w->behind >= 0 && now - w->behind >= FAR_TIME)
        w->zero = zero;
    else if (off > NEAR)
        w->zero += off < most ? off : most;
    else if (off < -NEAR)
        w->zero -= -off < most ? -off : most;
    w->moment = now;
    return w->zero + now;
}

/* Opens audio without configuration by the codec of the source, before its first frame. */
static void open_early(struct rtp_wire_state *s, unsigned track)
{
    struct rtp_wire_sender *t = &s->tracks[track];
    struct live_source_stat stat;
    struct rtp_map map;
    enum av_codec codec;

    if (t->open)
        return;
    live_source_stat(s->src, &stat);
    codec = track == 0 ? stat.video : stat.audio;
    if (rtp_map_of(&map, codec, NULL, 0))
        (void)rtp_wire_open_track(s, t, codec);
}

void rtp_wire_bye(const struct rtp_wire_state *s, struct wr *out)
{
    for (unsigned i = 0; i < RTP_WIRE_N; i++) {
        const struct rtp_wire_sender *t = &s->tracks[i];

        if (t->wanted && t->sender.packets > 0)
            rtp_wire_sender_bye(t, s->cname, out);
    }
}

static void log_broken(struct rtp_wire_state *s)
{
    if (s->broken == s->broken_logged)
        return;
    log_warn("%s: %llu broken frames are left out of RTP", live_source_name(s->src),
             (unsigned long long)(s->broken - s->broken_logged));
    s->broken_logged = s->broken;
}

void rtp_wire_report(struct rtp_wire_state *s, int64_t dts, int64_t pts, struct wr *out)
{
    int64_t late = co_now() - live_source_came(s->src, dts), moment = pts > dts ? pts : dts;
    int64_t unix_us = rtp_wire_wall_at(&s->wall, dts, co_wall_ms() * 1000 - late) +
                      (moment - dts) * 100 / 9;

    for (unsigned i = 0; i < RTP_WIRE_N; i++) {
        struct rtp_wire_sender *t = &s->tracks[i];

        if (!t->wanted)
            continue;
        open_early(s, i);
        if (!t->open || t->sender.clock == 0)
            continue;
        rtp_wire_sender_report(t, s->cname, moment, unix_us, out);
        t->reported = true;
    }
    s->reported = true;
    s->reported_at = dts;
    log_broken(s);
}
