/* SPDX-License-Identifier: MIT */
/* rtc_relay.c - relays the packets of a WebRTC publisher to WebRTC players, unchanged. */
#include "wire/rtc_impl.h"

enum { G711_RATE = 8000, JUMP = 3000 };

#define OFF_MOST INT64_C(1000000) /* maximum change of the publisher's clock while it publishes */

void rtc_wire_relay_begin(struct rtc_wire *w, const enum av_codec codec[RTP_LOG_TRACKS])
{
    rtc_audio_end(w);
    wire_reading_set(&w->reading, false);
    rtc_wire_rebase(w);
    rtp_log_no_key(w->log);
    w->relays = true;
    for (unsigned i = 0; i < RTP_LOG_TRACKS; i++) {
        uint32_t clock = av_codec_row(codec[i])->rtp.clock;

        w->tracks[i].codec = codec[i];
        w->tracks[i].clock = clock ? clock : G711_RATE;
    }
}

void rtc_wire_relay_end(struct rtc_wire *w)
{
    if (!w->relays)
        return;
    w->relays = false;
    rtc_wire_wanted(w, w->wanted);
}

/* [RFC 3550] A.1: restarts the shifts if the packet's number or time is far from the last one. */
static void follow(struct rtc_wire *w, struct rtc_wire_track *t, const struct rtp_log_entry *e)
{
    int64_t highest, ahead;
    bool any = rtp_log_highest(w->log, e->track, &highest);

    ahead = any ? e->number + t->number_shift - highest : 0;
    if (t->based && ahead < JUMP && ahead > -JUMP)
        return;
    t->number_shift = any ? highest + 1 - e->number : 0;
    rtc_wire_base(t, e->ticks, e->at);
    t->has_moment = t->has_key = false;
    w->epoch++;
}

/* Returns true for the first packet of a key frame. Parameter sets may have their own packets;
 * players start at the first of them. */
static bool is_key(struct rtc_wire_track *t, const struct rtp_log_entry *e)
{
    if ((t->has_key && e->ticks == t->key_ticks) || !rtc_key_begins(t->codec, e->data, e->size))
        return false;
    t->has_key = true;
    t->key_ticks = e->ticks;
    return true;
}

void rtc_wire_relay_put(struct rtc_wire *w, const struct rtp_log_entry *e)
{
    struct rtc_wire_track *t = &w->tracks[e->track];
    struct rtp_log_entry in = *e;

    if (!w->relays || t->codec == AV_CODEC_NONE)
        return;
    follow(w, t, e);
    in.number += t->number_shift;
    in.ticks += t->ticks_shift;
    in.key = e->track == 0 && is_key(t, &in);
    rtc_wire_put(w, &in);
    if (!t->has_moment) { /* by its arrival, until a sender report arrives */
        t->has_moment = true;
        t->moment_ticks = in.ticks;
        t->moment_us = co_wall_ms() * 1000 - (co_now() - in.at);
    }
    rtc_wire_trim(w, in.at);
}

void rtc_wire_relay_shift(const struct rtc_wire *w, enum av_kind kind, int64_t *number,
                          int64_t *ticks)
{
    const struct rtc_wire_track *t = &w->tracks[kind == AV_VIDEO ? 0 : 1];

    *number = t->number_shift;
    *ticks = t->ticks_shift;
}

/* Converts the publisher's clock, which all its tracks share, to ours. */
void rtc_wire_relay_moment(struct rtc_wire *w, enum av_kind kind, int64_t ticks, int64_t unix_us)
{
    struct rtc_wire_track *t = &w->tracks[kind == AV_VIDEO ? 0 : 1];
    int64_t offset = co_wall_ms() * 1000 - unix_us;

    if (!w->relays || !t->based)
        return;
    if (!w->has_offset || offset - w->offset > OFF_MOST || w->offset - offset > OFF_MOST) {
        w->offset = offset;
        w->epoch++;
    }
    w->has_offset = t->has_moment = true;
    t->moment_ticks = ticks + t->ticks_shift;
    t->moment_us = unix_us + w->offset;
}
