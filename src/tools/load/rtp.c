/* SPDX-License-Identifier: MIT */
/* rtp.c - look at RTP as it comes to a player. */
#include "tools/load/rtp.h"

#include <stdlib.h>

#include "proto/rtp/header.h"
#include "proto/rtp/rtcp.h"
#include "tools/load/watch.h"

enum {
    RESTART = 3000,      /* numbers further apart are another numbering's */
    AHEAD_S = 1,         /* a time may run so far ahead of the clock */
    BACK_S = 1,          /* and one of a picture may fall by that, since pictures have an order */
};

/* ------------------------------------------------------------ payloads */

static bool is_key_h264(const uint8_t *p, size_t size) /* RFC 6184 */
{
    unsigned type = p[0] & 31;

    if (type == 24 && size > 3)      /* STAP-A: its first */
        type = p[3] & 31;
    else if (type == 28 && size > 1) /* FU-A that begins */
        type = p[1] & 0x80 ? p[1] & 31 : 0;
    return type == 5 || type == 7;
}

static bool is_key_h265(const uint8_t *p, size_t size) /* RFC 7798 */
{
    unsigned type = p[0] >> 1 & 63;

    if (type == 48 && size > 4)      /* AP: its first */
        type = p[4] >> 1 & 63;
    else if (type == 49 && size > 2) /* FU that begins */
        type = p[2] & 0x80 ? p[2] & 63 : 0;
    return (type >= 16 && type <= 21) || (type >= 32 && type <= 34);
}

bool load_rtp_is_key(enum av_codec codec, const uint8_t *payload, size_t size)
{
    if (size == 0)
        return false;
    switch (codec) {
    case AV_H264: return is_key_h264(payload, size);
    case AV_H265: return is_key_h265(payload, size);
    case AV_AV1:  return payload[0] & 0x08;           /* N */
    case AV_VP9:  return (payload[0] & 0x48) == 0x08; /* B and not P */
    default:      return true;
    }
}

/* May there be user data in it: an SEI message, or several units? */
static bool may_have_clock(enum av_codec codec, const uint8_t *p, size_t n)
{
    unsigned type = n == 0 ? 0 : codec == AV_H264 ? p[0] & 31u : p[0] >> 1 & 63u;

    return (codec == AV_H264 && (type == 6 || type == 24)) ||
           (codec == AV_H265 && (type == 39 || type == 48));
}

/* ------------------------------------------------------------ frames */

static void end_frame(struct load_rtp *r, struct load_rtp_track *t)
{
    struct load_client *c = r->c;
    int64_t late = r->now / 1000 - t->ticks * 1000 / t->clock;

    if (late < t->base)
        t->base = late;
    else if (late > t->base + c->run->opts.late_ms)
        c->run->stat.late++;
    load_watch_came(c, r->now);
    if (t->key)
        load_watch_key(c);
    if (t->video && c->have_marker)
        load_watch_marker(c, r->now);
    t->key = false;
}

/* A frame at `ticks` begins. Times go on, not faster than the clock does; those of sound never
 * fall. */
static void begin_frame(struct load_rtp *r, struct load_rtp_track *t, int64_t ticks)
{
    int64_t step = ticks - t->ticks, clock = t->clock;
    co_usec since = t->timed ? r->now - t->came : 0;
    int64_t most = since * clock / 1000000 + AHEAD_S * clock;

    if (!t->timed || step > most || step < (t->video ? -BACK_S * clock : 0)) {
        r->c->run->stat.rtp.time_faults += t->timed;
        t->base = INT64_MAX;
    }
    if (t->video)
        r->c->have_marker = false;
    t->ticks = ticks;
    t->timed = true;
    t->came = r->now;
}

static void look(struct load_rtp *r, struct load_rtp_track *t, const uint8_t *p, size_t n)
{
    struct load_client *c = r->c;

    if (!t->video)
        return;
    if (!c->have_key && load_rtp_is_key(t->codec, p, n))
        t->key = true;
    if (!c->have_marker && may_have_clock(t->codec, p, n))
        c->have_marker = load_marker_find_in(&c->marker, p, n);
}

/* ------------------------------------------------------------ packets */

enum order { IN_ORDER, BEHIND_A_HOLE, LATE };

static void start(struct load_rtp *r, struct load_rtp_track *t, uint16_t seq, uint32_t ssrc)
{
    struct load_rtp_stat *s = &r->c->run->stat.rtp;

    if (t->started) {
        s->restarts++;
        rtp_stats_restart(&t->stats);
    } else if (t->has_first && seq != t->first) {
        s->info_faults++;
    }
    t->started = true;
    t->timed = false;
    t->ssrc = ssrc;
    t->seq = seq;
}

static enum order count(struct load_rtp *r, struct load_rtp_track *t, uint16_t seq)
{
    struct load_rtp_stat *s = &r->c->run->stat.rtp;
    int64_t step = rtp_unwrap16(t->seq, seq) - t->seq;

    if (step == 0) {
        t->seq++;
        return IN_ORDER;
    }
    if (step < 0) {
        s->reordered++;
        s->lost -= s->lost > 0;
        return LATE;
    }
    s->lost += (uint64_t)step;
    t->seq += step + 1;
    return BEHIND_A_HOLE;
}

static void media(struct load_rtp *r, struct load_rtp_track *t, const struct rtp_packet *p,
                  enum order order)
{
    int64_t ticks = t->timed ? rtp_unwrap32(t->ticks, p->time) : (int64_t)p->time;
    bool fresh = !t->timed || ticks != t->ticks;

    if (t->marks && t->timed && order == IN_ORDER && fresh != t->marked)
        r->c->run->stat.rtp.marker_faults++;
    if (fresh) {
        if (t->timed && t->marks && !t->marked)
            end_frame(r, t);
        begin_frame(r, t, ticks);
    }
    look(r, t, p->payload, p->payload_size);
    t->marked = p->marker;
    if (t->marks ? p->marker : fresh)
        end_frame(r, t);
}

static void packet(struct load_rtp *r, struct load_rtp_track *t, const uint8_t *data, size_t size)
{
    struct load_rtp_stat *s = &r->c->run->stat.rtp;
    struct rtp_packet p;
    enum order order;

    if (!rtp_parse(&p, data, size) || p.type != t->type) {
        s->odd++;
        return;
    }
    s->packets++;
    load_watch_first(r->c);
    if (!t->started || p.ssrc != t->ssrc || llabs(rtp_unwrap16(t->seq, p.seq) - t->seq) > RESTART)
        start(r, t, p.seq, p.ssrc);
    order = count(r, t, p.seq);
    if (r->datagrams)
        rtp_stats_add(&t->stats, rtp_unwrap16(t->seq, p.seq), p.time, p.payload_size, co_now());
    if (order != LATE)
        media(r, t, &p, order);
}

static void reports(struct load_rtp *r, struct load_rtp_track *t, const uint8_t *p, size_t size)
{
    struct rtcp_reader reader;
    struct rtcp_packet got;

    rtcp_begin(&reader, p, size);
    while (rtcp_next(&reader, &got)) {
        if (got.type == RTCP_SR) {
            r->c->run->stat.rtp.reports++;
            t->last_sr = (uint32_t)(got.sr.ntp >> 16);
            t->sr_at = co_now();
        } else if (got.type == RTCP_BYE) {
            r->left_by |= 1u << (t - r->tracks);
        }
    }
}

void load_rtp_packet(struct load_rtp *r, struct load_rtp_track *t, const uint8_t *p, size_t size)
{
    if (r->looked != co_now()) {
        r->looked = co_now();
        r->now = load_wall();
    }
    if (size < 2)
        r->c->run->stat.rtp.odd++;
    else if (rtp_is_rtcp(p, size))
        reports(r, t, p, size);
    else
        packet(r, t, p, size);
}

struct rtcp_block load_rtp_block(struct rtp_stats *stats, uint32_t ssrc, uint32_t last_sr,
                                 co_usec sr_at)
{
    struct rtcp_block b = { .ssrc = ssrc, .last_sr = last_sr };

    rtp_stats_report(stats, &b);
    if (last_sr)
        b.delay = (uint32_t)((co_now() - sr_at) * 65536 / CO_SECONDS(1));
    return b;
}

/* ------------------------------------------------------------ over a connection */

static void on_frame(void *arg, uint8_t channel, const uint8_t *data, size_t size)
{
    struct load_rtp *r = arg;

    for (unsigned i = 0; i < r->n; i++) {
        struct load_rtp_track *t = &r->tracks[i];

        if (channel == t->channel || channel == t->channel + 1) {
            load_rtp_packet(r, t, data, size);
            return;
        }
    }
    r->c->run->stat.rtp.odd++;
}

err_t load_rtp_read(struct load_rtp *r, struct rtsp_reader *reader, size_t *n)
{
    struct rtsp_item item = { .kind = RTSP_ITEM_FRAME };
    err_t err = rtsp_reader_frames(reader, true, on_frame, r, n);

    while (!err && item.kind != RTSP_ITEM_NONE) {
        err = rtsp_reader_take(reader, &item);
        if (!err && item.kind == RTSP_ITEM_FRAME)
            on_frame(r, item.channel, item.data, item.size);
    }
    return err;
}
