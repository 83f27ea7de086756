/* SPDX-License-Identifier: MIT */
/* rtp.c - look at RTP as it comes to a player. */
#include "tools/load/rtp.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/rtp/header.h"
#include "proto/rtp/rtcp.h"
#include "tools/load/watch.h"

enum {
    MESSAGE_MAX = 64 * 1024,
    RESTART = 3000,      /* numbers further apart are another numbering's */
    AHEAD_S = 1,         /* a time may run so far ahead of the clock */
    BACK_S = 1,          /* and one of a picture may fall by that, since pictures have an order */
};

static uint32_t be(const uint8_t *p, size_t n)
{
    uint32_t v = 0;

    for (size_t i = 0; i < n; i++)
        v = v << 8 | p[i];
    return v;
}

/* ------------------------------------------------------------ payloads */

/* What NAL unit types say: of a key picture, or of what goes in front of one. */
static bool is_key_h264(unsigned type)
{
    return type == 5 || type == 7;
}

static bool is_key_h265(unsigned type)
{
    return (type >= 16 && type <= 21) || type == 32 || type == 33;
}

/* May the payload be of a key frame? As far as its first bytes tell. */
static bool is_key(enum av_codec codec, const uint8_t *p, size_t n)
{
    unsigned type;

    if (n < 5)
        return false;
    switch (codec) {
    case AV_H264: /* RFC 6184: STAP-A, FU-A, a unit */
        type = p[0] & 31u;
        return is_key_h264(type == 24 ? p[3] & 31u : type == 28 ? p[1] & 31u : type);
    case AV_H265: /* RFC 7798: AP, FU, a unit */
        type = p[0] >> 1 & 63u;
        return is_key_h265(type == 48 ? p[4] >> 1 & 63u : type == 49 ? p[2] & 63u : type);
    case AV_AV1:
        return p[0] & 0x08; /* N: a coded video sequence begins */
    case AV_VP9:
        return !(p[0] & 0x40) && (p[0] & 0x08); /* no P, and B */
    default:
        return true;
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
    if (!c->have_key && is_key(t->codec, p, n))
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

static void media(struct load_rtp *r, struct load_rtp_track *t, const uint8_t *p, size_t have,
                  size_t at, enum order order)
{
    bool marker = p[1] >> 7;
    int64_t ticks = t->timed ? rtp_unwrap32(t->ticks, be(p + 4, 4)) : (int64_t)be(p + 4, 4);
    bool fresh = !t->timed || ticks != t->ticks;

    if (t->marks && t->timed && order == IN_ORDER && fresh != t->marked)
        r->c->run->stat.rtp.marker_faults++;
    if (fresh) {
        if (t->timed && t->marks && !t->marked)
            end_frame(r, t);
        begin_frame(r, t, ticks);
    }
    look(r, t, p + at, have - at);
    t->marked = marker;
    if (t->marks ? marker : fresh)
        end_frame(r, t);
}

/* Where its payload begins; 0: it is no packet. */
static size_t header_size(const uint8_t *p, size_t have, size_t size)
{
    size_t at = RTP_HEADER + (p[0] & 15u) * 4;

    if (have < RTP_HEADER || p[0] >> 6 != 2)
        return 0;
    if ((p[0] & 0x10) && at + 4 <= have)
        at += 4 + 4 * (size_t)be(p + at + 2, 2);
    return at <= size ? at : 0;
}

static void packet(struct load_rtp *r, struct load_rtp_track *t, const uint8_t *p, size_t have,
                   size_t size)
{
    struct load_rtp_stat *s = &r->c->run->stat.rtp;
    size_t at = header_size(p, have, size);
    uint16_t seq;
    uint32_t ssrc;
    enum order order;

    if (at == 0 || (p[1] & 127) != t->type) {
        s->odd++;
        return;
    }
    s->packets++;
    seq = (uint16_t)be(p + 2, 2);
    ssrc = be(p + 8, 4);
    load_watch_first(r->c);
    if (!t->started || ssrc != t->ssrc || llabs(rtp_unwrap16(t->seq, seq) - t->seq) > RESTART)
        start(r, t, seq, ssrc);
    order = count(r, t, seq);
    if (r->datagrams)
        rtp_stats_add(&t->stats, rtp_unwrap16(t->seq, seq), be(p + 4, 4), size - at, co_now());
    if (order != LATE)
        media(r, t, p, have, at < have ? at : have, order);
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

void load_rtp_packet(struct load_rtp *r, struct load_rtp_track *t, const uint8_t *p, size_t have,
                     size_t size)
{
    if (have < 2)
        r->c->run->stat.rtp.odd++;
    else if (rtp_is_rtcp(p, have))
        reports(r, t, p, have);
    else
        packet(r, t, p, have, size);
}

/* ------------------------------------------------------------ the walk over a connection */

static void frame(struct load_rtp *r, const uint8_t *p, size_t have, size_t size)
{
    for (unsigned i = 0; i < r->n; i++) {
        struct load_rtp_track *t = &r->tracks[i];

        if (p[1] == t->channel || p[1] == t->channel + 1) {
            load_rtp_packet(r, t, p + RTP_INTERLEAVED, have - RTP_INTERLEAVED, size);
            return;
        }
    }
    r->c->run->stat.rtp.odd++;
}

/* A frame that is not whole in what was read: keep its first bytes. Gives how many are used. */
static size_t feed_frame(struct load_rtp *r, const uint8_t *p, size_t size)
{
    uint32_t want = r->have < RTP_INTERLEAVED ? RTP_INTERLEAVED : LOAD_RTP_HEAD;
    size_t n = want - r->have;

    if (r->have >= RTP_INTERLEAVED && r->left < n)
        n = r->left;
    if (n > size)
        n = size;
    memcpy(r->head + r->have, p, n);
    r->have += (uint32_t)n;
    if (r->have < RTP_INTERLEAVED)
        return n;
    if (want == RTP_INTERLEAVED)
        r->left = be(r->head + 2, 2);
    else
        r->left -= (uint32_t)n;
    if (r->have == LOAD_RTP_HEAD) {
        size_t rest = size - n < r->left ? size - n : r->left;

        r->left -= (uint32_t)rest;
        n += rest;
    }
    if (r->left == 0) {
        r->part = LOAD_RTP_BETWEEN;
        frame(r, r->head, r->have, be(r->head + 2, 2));
    }
    return n;
}

static void end_line(struct load_rtp *r)
{
    static const char length[] = "Content-Length:";
    char *line = (char *)r->head;

    line[r->have < LOAD_RTP_HEAD ? r->have : LOAD_RTP_HEAD - 1] = '\0';
    line[strcspn(line, "\r")] = '\0';
    if (strncasecmp(line, length, sizeof(length) - 1) == 0)
        r->body = (uint32_t)strtoul(line + sizeof(length) - 1, NULL, 10);
    r->have = 0;
    if (*line)
        return;
    r->part = r->body ? LOAD_RTP_BODY : LOAD_RTP_BETWEEN;
    r->left = r->body;
}

/* Lines of a message's head; what is too long for us is no line that we look for. */
static err_t feed_line(struct load_rtp *r, const uint8_t *p, size_t size, size_t *used)
{
    const uint8_t *end = memchr(p, '\n', size);
    size_t n = end ? (size_t)(end - p) : size, keep = LOAD_RTP_HEAD - r->have;

    memcpy(r->head + r->have, p, n < keep ? n : keep);
    r->have += (uint32_t)(n < keep ? n : keep);
    r->left += (uint32_t)n + 1;
    if (r->left > MESSAGE_MAX)
        return err_new(ERR_RTSP, "a message of over %d bytes", MESSAGE_MAX);
    *used = n + (end != NULL);
    if (end)
        end_line(r);
    return NULL;
}

static size_t feed_body(struct load_rtp *r, size_t size)
{
    size_t n = size < r->left ? size : r->left;

    r->left -= (uint32_t)n;
    if (r->left == 0)
        r->part = LOAD_RTP_BETWEEN;
    return n;
}

/* What begins here: whole frames are looked at where they are. */
static err_t feed_next(struct load_rtp *r, const uint8_t *p, size_t size, size_t *used)
{
    bool letter = (*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z');

    *used = 0;
    r->have = r->left = r->body = 0;
    if (*p == '$' && size >= RTP_INTERLEAVED && size - RTP_INTERLEAVED >= be(p + 2, 2)) {
        *used = RTP_INTERLEAVED + be(p + 2, 2);
        frame(r, p, *used, be(p + 2, 2));
    } else if (*p == '$') {
        r->part = LOAD_RTP_FRAME;
    } else if (letter) {
        r->part = LOAD_RTP_LINE;
    } else if (*p == '\r' || *p == '\n') {
        *used = 1;
    } else {
        return err_new(ERR_RTSP, "byte 0x%02x begins neither a message nor a frame", *p);
    }
    return NULL;
}

err_t load_rtp_feed(struct load_rtp *r, const uint8_t *p, size_t size)
{
    err_t err = NULL;

    r->now = load_wall();
    while (!err && size > 0) {
        size_t used = 0;

        switch (r->part) {
        case LOAD_RTP_BETWEEN:
            err = feed_next(r, p, size, &used);
            break;
        case LOAD_RTP_FRAME:
            used = feed_frame(r, p, size);
            break;
        case LOAD_RTP_LINE:
            err = feed_line(r, p, size, &used);
            break;
        case LOAD_RTP_BODY:
            used = feed_body(r, size);
            break;
        }
        p += used;
        size -= used;
    }
    return err;
}
