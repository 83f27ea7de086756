/* SPDX-License-Identifier: MIT */
/* srt.c - turns frames of a live stream into SRT packets. */
#include "wire/srt_impl.h"

#include "base/container_of.h"
#include "base/must.h"
#include "live/policy.h"

#include <stdlib.h>

#define KEEP CO_SECONDS(1)       /* minimum */
#define TABLES_PERIOD AV_MS(100)
#define PCR_PERIOD AV_MS(40)
#define AUDIO_STARTS AV_MS(500)  /* interval of start positions without video */

enum {
    OUT_MAX = 64 << 20,  /* a frame of 16 MB, and the overhead of TS */
    OUT_KEPT = 64 << 10, /* memory kept for the next turn */
    TURN = 1 << 20,      /* approximate bytes made per turn: half a millisecond */
};

/* ---- packets */

static uint64_t oldest_to_keep(const struct srt_wire *w, co_usec now)
{
    const struct srt_log *l = &w->log;
    const struct live_settings set = live_source_set(w->reading.src);
    struct live_retained log = { .head = l->head, .key = l->key, .key_before = l->key_before,
                                 .have_key = l->has_key, .played = w->wanted };
    struct srt_log_entry e;

    log.key_age = l->has_key && srt_log_get(l, l->key, &e) ? now - e.due : CO_FOREVER;
    return live_policy_retains(&log, &set, false);
}

/* Removes old packets. Without players nothing is retransmitted, so everything before the newest
 * key frame is removed. */
void srt_wire_trim(struct srt_wire *w, co_usec now)
{
    struct srt_log *l = &w->log;
    uint64_t from = oldest_to_keep(w, now);

    if (!w->wanted && !w->relays)
        srt_log_trim(l, INT64_MAX, l->head, 0);
    else
        srt_log_trim(l, !w->wanted && from < l->head ? INT64_MAX : now - w->keep, from,
                     w->set.max_bytes);
    if (l->has_key && l->key < l->first)
        l->has_key = false;
    wire_reading_count(&w->reading, l->bytes);
}

void srt_wire_put(struct srt_wire *w, const uint8_t *data, size_t size, bool key, co_usec due)
{
    w->due = due > w->due ? due : w->due;
    (void)srt_log_put(&w->log, data, size, key, w->due); /* lost if memory is short */
}

/* Makes joining players wait for a start position in later packets. */
static void begin_again(struct srt_wire *w)
{
    w->log.has_key = false;
    w->begin = w->log.head;
}

/* Puts complete packets of the muxed bytes into the log; with `rest` also the last, shorter one. */
static void cut(struct srt_wire *w, bool rest)
{
    while (w->cut < w->out.len) {
        size_t left = w->out.len - w->cut, size = left < w->set.payload ? left : w->set.payload;

        if (size < w->set.payload && !rest)
            return;
        srt_wire_put(w, w->out.buf + w->cut, size, w->key, w->cut < w->newest ? w->out_due
                                                                              : w->newest_due);
        w->key = false;
        w->cut += size;
    }
    w->out.len = w->cut = w->newest = 0;
}

/* ---- frames */

/* Returns true if players may start at the packet. If TS does not carry the video codec, players
 * get only audio and start at audio frames. */
static bool starts(const struct srt_wire *w, const struct av_packet *pkt)
{
    if (pkt->start || pkt->kind != AV_AUDIO || w->mux.video.codec != AV_CODEC_NONE)
        return pkt->start;
    return !pkt->config && (!w->has_key_dts || pkt->dts - w->key_dts >= AUDIO_STARTS);
}

static void add(struct srt_wire *w, const struct av_packet *pkt, co_usec now)
{
    bool start = starts(w, pkt);

    if (start) { /* a start position begins a new packet, with tables in front */
        cut(w, true);
        ts_mux_restart(&w->mux);
    }
    if (w->cut >= w->newest)
        w->out_due = w->newest_due;
    w->newest = w->out.len;
    /* due at its arrival, so merging does not disturb the pace of players */
    w->newest_due = wire_reading_came(&w->reading, pkt, now);
    ts_mux_packet(&w->mux, &w->tracks, pkt, &w->out);
    if (start && w->out.len > w->newest) {
        w->key = w->has_key_dts = true;
        w->key_dts = pkt->dts;
    }
    cut(w, false);
}

/* ---- reading the stream */

static void begin(struct wire_reading *r)
{
    struct srt_wire *w = container_of(r, struct srt_wire, reading);

    ts_mux_renew(&w->mux, w->jumps);
    w->tracks = (struct frame_tracks){ 0 };
    w->has_key_dts = w->jumps = w->key = false;
    begin_again(w);
}

static void config(struct wire_reading *r, const struct av_packet *pkt, co_usec now)
{
    struct srt_wire *w = container_of(r, struct srt_wire, reading);

    (void)now;
    ts_mux_packet(&w->mux, &w->tracks, pkt, &w->out);
}

static const struct wire_reading_ops reading = { .begin = begin, .config = config };

static void tidy(struct srt_wire *w)
{
    if (w->out.cap > OUT_KEPT || w->out.bad) {
        wr_free(&w->out);
        wr_init(&w->out, OUT_MAX);
    }
}

void srt_wire_take(struct srt_wire *w, co_usec now)
{
    uint64_t from = w->log.head;
    const struct av_packet *pkt;

    if (wire_reading_on(&w->reading)) {
        while ((w->log.head - from) * w->set.payload < TURN &&
               (pkt = wire_reading_next(&w->reading, now)))
            add(w, pkt, now);
        cut(w, true);
        tidy(w);
        w->due = now > w->due ? now : w->due;
    }
    srt_wire_trim(w, now);
}

/* ---- create and free */

struct srt_wire *srt_wire_new(struct live_source *src, const struct srt_wire_opts *opts)
{
    struct srt_wire *w = must(calloc(1, sizeof(*w)));

    *w = (struct srt_wire){ .set = *opts, .keep = KEEP };
    wire_reading_init(&w->reading, &reading, src, opts->counter);
    srt_log_init(&w->log);
    ts_mux_init(&w->mux);
    w->mux.tables_period = TABLES_PERIOD;
    w->mux.pcr_period = PCR_PERIOD;
    wr_init(&w->out, OUT_MAX);
    return w;
}

void srt_wire_free(struct srt_wire *w)
{
    if (!w)
        return;
    wire_reading_fini(&w->reading);
    ts_mux_fini(&w->mux);
    wr_free(&w->out);
    srt_log_fini(&w->log);
    free(w);
}

struct srt_log *srt_wire_log(struct srt_wire *w)
{
    return &w->log;
}

bool srt_wire_join(const struct srt_wire *w, uint64_t *number)
{
    const struct srt_log *l = &w->log;
    const struct live_span span = { l->first, l->key, l->has_key, l->head };

    return wire_reading_join(&w->reading, &span, number);
}

void srt_wire_wanted(struct srt_wire *w, bool wanted)
{
    w->wanted = wanted;
    if (!wanted) {
        w->keep = KEEP;
        srt_wire_trim(w, w->due);
    }
    wire_reading_set(&w->reading, w->wanted && !w->relays);
}

void srt_wire_keep(struct srt_wire *w, co_usec time)
{
    w->keep = time > w->keep ? time : w->keep;
}

void srt_wire_relay_begin(struct srt_wire *w)
{
    w->relays = true;
    wire_reading_set(&w->reading, w->wanted && !w->relays);
    begin_again(w);
    w->marked = (struct srt_wire_marked){ .on = w->wanted };
}

void srt_wire_relay_end(struct srt_wire *w)
{
    w->relays = false;
    w->jumps = true;
    srt_log_lead(&w->log, NULL, 0);
    begin_again(w);
    wire_reading_set(&w->reading, w->wanted && !w->relays);
    srt_wire_trim(w, w->due);
}
