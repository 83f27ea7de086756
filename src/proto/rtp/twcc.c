/* SPDX-License-Identifier: MIT */
/* twcc.c - feedback for the sender's congestion control: arrival times, [TWCC] 3.1. */
#include "proto/rtp/twcc.h"

#include "base/must.h"
#include "proto/rtp/feedback.h"
#include "proto/rtp/header.h"

#include <stdlib.h>
#include <string.h>

enum {
    VERSION = 2, PADDING = 0x20, FORMAT = 15,
    MISSING = 0, SMALL = 1, LARGE = 2, /* statuses: not received, 8-bit delta, 16-bit delta */
    RUN_MAX = 0x1fff, ONE_BIT = 14, TWO_BIT = 7, FAR = RTP_TWCC_KEPT, FAR_BACK = 8 * FAR,
};

/* Content of one feedback packet. */
struct report {
    unsigned n;
    uint8_t status[RTP_TWCC_REPORTED];
    int16_t delta[RTP_TWCC_REPORTED];
    int64_t reference; /* in units of 64 ms */
};

void rtp_twcc_fini(struct rtp_twcc *t)
{
    free(t->arrivals);
    *t = (struct rtp_twcc){ 0 };
}

static co_usec *arrival_of(const struct rtp_twcc *t, int64_t seq)
{
    return &t->arrivals[(uint64_t)seq % RTP_TWCC_KEPT];
}

static void begin(struct rtp_twcc *t, int64_t seq, co_usec now)
{
    if (!t->arrivals)
        t->arrivals = must(calloc(RTP_TWCC_KEPT, sizeof(t->arrivals[0])));
    memset(t->arrivals, 0, RTP_TWCC_KEPT * sizeof(t->arrivals[0]));
    if (!t->started) {
        t->origin = now - CO_MS(1); /* so that no stored time is 0 */
        t->sent_at = now;
    }
    t->started = true;
    t->base = t->next = seq;
    t->fresh = 0;
}

/* Clears the entries of skipped numbers, which may hold times of the previous round. */
static void reach(struct rtp_twcc *t, int64_t seq)
{
    for (; t->next <= seq; t->next++)
        *arrival_of(t, t->next) = 0;
    if (t->base < t->next - RTP_TWCC_KEPT)
        t->base = t->next - RTP_TWCC_KEPT;
}

bool rtp_twcc_put(struct rtp_twcc *t, uint16_t number, co_usec now)
{
    int64_t seq = t->started ? rtp_unwrap16(t->next, number) : number;

    if (!t->started || seq - t->next > FAR || t->next - seq > FAR_BACK)
        begin(t, seq, now);
    if (seq < t->next - RTP_TWCC_KEPT)
        return false; /* too old to be reported */
    if (seq >= t->next)
        reach(t, seq);
    if (*arrival_of(t, seq) != 0)
        return false;
    *arrival_of(t, seq) = now - t->origin;
    if (seq < t->base) /* late packet: report it and everything after it again */
        t->base = seq;
    return ++t->fresh >= RTP_TWCC_EACH;
}

co_usec rtp_twcc_due(const struct rtp_twcc *t)
{
    return t->fresh > 0 ? t->sent_at + RTP_TWCC_PERIOD : CO_FOREVER;
}

/* ---- collecting */

/* Adds a packet's arrival time. The reference is the first packet's time, rounded down; the others
 * are relative to the previous one. Returns false if the difference is too large. */
static bool add_arrival(struct report *report, co_usec at, co_usec *last)
{
    int64_t ticks;

    if (at == 0) {
        report->status[report->n++] = MISSING;
        return true;
    }
    if (*last < 0) {
        report->reference = at / RTCP_TWCC_REFERENCE;
        *last = report->reference * RTCP_TWCC_REFERENCE;
    }
    ticks = (at - *last + (at >= *last ? 1 : -1) * RTCP_TWCC_TICK / 2) / RTCP_TWCC_TICK;
    if (ticks < INT16_MIN || ticks > INT16_MAX)
        return false;
    *last += ticks * RTCP_TWCC_TICK; /* prevents rounding errors from accumulating */
    report->delta[report->n] = (int16_t)ticks;
    report->status[report->n++] = ticks >= 0 && ticks <= UINT8_MAX ? SMALL : LARGE;
    return true;
}

static void collect(const struct rtp_twcc *t, struct report *report)
{
    co_usec last = -1;

    report->n = 0;
    report->reference = 0;
    while (report->n < RTP_TWCC_REPORTED && t->base + report->n < t->next) {
        if (!add_arrival(report, *arrival_of(t, t->base + report->n), &last))
            break;
    }
}

/* ---- chunks */

static unsigned run_of(const struct report *report, unsigned at)
{
    unsigned n = 1;

    while (at + n < report->n && report->status[at + n] == report->status[at] && n < RUN_MAX)
        n++;
    return n;
}

static uint16_t vector(const struct report *report, unsigned at, unsigned n, unsigned bits)
{
    uint16_t chunk = bits == 2 ? 0xc000 : 0x8000;

    for (unsigned i = 0; i < n && at + i < report->n; i++)
        chunk |= (uint16_t)(report->status[at + i] << (14 - bits * (i + 1)));
    return chunk;
}

static bool has_large(const struct report *report, unsigned at)
{
    for (unsigned i = at; i < report->n && i < at + ONE_BIT; i++) {
        if (report->status[i] == LARGE)
            return true;
    }
    return false;
}

/* Writes the chunk that covers the most packets; returns their number. */
static unsigned put_chunk(struct wr *w, const struct report *report, unsigned at)
{
    unsigned run = run_of(report, at), most = has_large(report, at) ? TWO_BIT : ONE_BIT;

    if (run >= most || at + run == report->n) {
        wr_u16(w, (uint16_t)(report->status[at] << 13 | run));
        return run;
    }
    wr_u16(w, vector(report, at, most, most == TWO_BIT ? 2 : 1));
    return most;
}

static void put_deltas(struct wr *w, const struct report *report)
{
    for (unsigned i = 0; i < report->n; i++) {
        if (report->status[i] == SMALL)
            wr_u8(w, (uint8_t)report->delta[i]);
        if (report->status[i] == LARGE)
            wr_u16(w, (uint16_t)report->delta[i]);
    }
}

/* Pads to a whole word, as in [RFC 3550] 6.4.1: the last byte is the size of the padding. Then sets
 * the length in the head. */
static void put_end(struct wr *w, size_t begin)
{
    size_t over = (w->len - begin) % 4, words;

    if (over > 0) {
        wr_be(w, 4 - over, 4 - over);
        if (!w->bad)
            w->buf[begin] |= PADDING;
    }
    words = (w->len - begin) / 4 - 1;
    if (w->bad)
        return;
    w->buf[begin + 2] = (uint8_t)(words >> 8);
    w->buf[begin + 3] = (uint8_t)words;
}

static void put(struct rtp_twcc *t, struct wr *w, uint32_t ssrc, uint32_t media,
                const struct report *report)
{
    size_t begin = w->len;

    wr_u8(w, VERSION << 6 | FORMAT);
    wr_u8(w, RTCP_RTPFB);
    wr_u16(w, 0);
    wr_u32(w, ssrc);
    wr_u32(w, media);
    wr_u16(w, (uint16_t)(uint64_t)t->base);
    wr_u16(w, (uint16_t)report->n);
    wr_u24(w, (uint32_t)(uint64_t)report->reference & 0xffffff);
    wr_u8(w, t->number++);
    for (unsigned i = 0; i < report->n;)
        i += put_chunk(w, report, i);
    put_deltas(w, report);
    put_end(w, begin);
}

bool rtp_twcc_write(struct rtp_twcc *t, struct wr *w, uint32_t ssrc, uint32_t media, co_usec now)
{
    struct report report;

    if (t->fresh == 0)
        return false;
    collect(t, &report);
    put(t, w, ssrc, media, &report);
    t->base += report.n;
    t->sent_at = now;
    if (t->base == t->next)
        t->fresh = 0;
    return true;
}
