/* SPDX-License-Identifier: MIT */
/* rtc.c - turns frames of a live stream into RTP packets for WebRTC players. */
#include "wire/rtc_impl.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "live/policy.h"
#include "proto/rtp/sender.h"

#include <stdlib.h>
#include <string.h>

#define KEEP CO_SECONDS(1)      /* minimum, for retransmission */

enum {
    OUT_MAX = 64 << 20,  /* a frame of 16 MB, and packet headers */
    OUT_KEPT = 64 << 10, /* memory kept for the next frame */
    /* approximate number of packets made per turn: a fraction of a millisecond */
    TURN = 512,
    G711_RATE = 8000,
};

/* Header in front of each payload until it is in the log. */
struct piece {
    int64_t ticks;
    uint32_t size;
    bool marker;
};

static bool takes(enum av_codec codec)
{
    switch (codec) {
    case AV_H264:
    case AV_H265:
    case AV_AV1:
    case AV_VP9:
    case AV_OPUS:
    case AV_G711A:
    case AV_G711U:
        return true;
    default:
        return false;
    }
}

/* ---- the log */

static uint64_t oldest_to_keep(struct rtc_wire *w, co_usec now)
{
    const struct live_settings set = live_source_set(w->reading.src);
    struct live_retained log = { .head = rtp_log_head(w->log), .played = w->wanted };

    log.have_key = rtp_log_key(w->log, &log.key);
    if (log.have_key && (log.key != w->key_now || w->key_at == 0)) {
        w->key_before = w->key_now;
        w->key_now = log.key;
        w->key_at = now;
    }
    log.key_before = w->key_before;
    log.key_age = now - w->key_at;
    return live_policy_retains(&log, &set, true);
}

void rtc_wire_trim(struct rtc_wire *w, co_usec now)
{
    if (w->wanted)
        rtp_log_trim(w->log, now - KEEP, oldest_to_keep(w, now), w->set.max_bytes);
    else if (w->relays) /* no retransmission is needed: kept for joining players */
        rtp_log_trim(w->log, INT64_MAX, oldest_to_keep(w, now), w->set.max_bytes);
    else
        rtp_log_trim(w->log, INT64_MAX, UINT64_MAX, 0);
    wire_reading_count(&w->reading, rtp_log_bytes(w->log));
}

void rtc_wire_base(struct rtc_wire_track *t, int64_t ticks, co_usec at)
{
    co_usec since = at > t->last_at ? at - t->last_at : 0;

    t->based = true;
    t->ticks_shift = t->any ? t->last_ticks + since * t->clock / 1000000 + 1 - ticks : 0;
}

void rtc_wire_rebase(struct rtc_wire *w)
{
    w->epoch++;
    w->has_newest = w->has_offset = false;
    w->wall = (struct rtp_wire_wall){ 0 };
    for (unsigned i = 0; i < RTP_LOG_TRACKS; i++) {
        struct rtc_wire_track *t = &w->tracks[i];

        t->based = t->has_moment = t->has_key = false;
        t->codec = AV_CODEC_NONE;
    }
}

/* Returns true if no other frame needs the frame. Later packets of an AV1 frame do not tell, so
 * they take the first one's result. */
static bool is_disposable(struct rtc_wire_track *t, const struct rtp_log_entry *e)
{
    bool again = t->codec == AV_AV1 && t->has_spare && e->ticks == t->spare_ticks;

    t->has_spare = again || rtc_key_spare(t->codec, e->data, e->size);
    t->spare_ticks = e->ticks;
    return t->has_spare;
}

void rtc_wire_put(struct rtc_wire *w, const struct rtp_log_entry *e)
{
    struct rtc_wire_track *t = &w->tracks[e->track];
    struct rtp_log_entry in = *e;

    in.spare = e->track == 0 && is_disposable(t, e);
    if (!rtp_log_put(w->log, &in))
        return;
    if (!t->any || e->ticks > t->last_ticks || t->last_ticks - e->ticks > 10 * (int64_t)t->clock) {
        t->last_ticks = e->ticks;
        t->last_at = e->at;
    }
    t->any = true;
}

/* ---- frames to packets */

static void on_packet(struct rtp_sink *sink, uint8_t *head, size_t size, bool marker,
                      int64_t ticks)
{
    const struct piece p = { .ticks = ticks, .size = (uint32_t)size, .marker = marker };

    (void)sink;
    memcpy(head, &p, sizeof(p));
}

/* Adds the output of the packer to the log. */
static void put_all(struct rtc_wire *w, unsigned track, bool key, co_usec at)
{
    struct rtc_wire_track *t = &w->tracks[track];
    size_t from = 0;

    while (w->out.len - from > sizeof(struct piece)) {
        struct piece p;
        struct rtp_log_entry e = { .track = (uint8_t)track, .key = key, .at = at };

        memcpy(&p, w->out.buf + from, sizeof(p));
        if (!t->based)
            rtc_wire_base(t, p.ticks, at);
        e.data = w->out.buf + from + sizeof(p);
        e.size = (uint16_t)p.size;
        e.marker = p.marker;
        e.ticks = p.ticks + t->ticks_shift;
        e.number = t->next++;
        if (p.size <= RTP_LOG_PAYLOAD_MAX)
            rtc_wire_put(w, &e);
        key = false;
        from += sizeof(p) + p.size;
    }
    w->out.len = 0;
}

static bool open_track(struct rtc_wire *w, unsigned track, enum av_codec codec)
{
    struct rtc_wire_track *t = &w->tracks[track];
    const struct rtp_packer_opts opts = { .codec = codec, .mtu = RTC_WIRE_PAYLOAD, .sets = true,
                                          .no_sei = !w->set.keep_sei, .no_end = true,
                                          .share = w->set.merge_nalus };
    int64_t highest;

    if (t->open)
        rtp_packer_fini(&t->packer);
    w->epoch++;
    t->codec = codec;
    t->clock = av_codec_row(codec)->rtp.clock ? av_codec_row(codec)->rtp.clock : G711_RATE;
    t->open = rtp_packer_init(&t->packer, &opts);
    t->next = rtp_log_highest(w->log, track, &highest) ? highest + 1 : 0;
    if (track == 0) { /* players of the old video cannot continue with the new one */
        rtp_log_no_key(w->log);
        w->order = (struct rtc_order){ .keep = w->set.keep_bframe };
    }
    return t->open;
}

static bool in_order(struct rtc_wire *w, struct frame *f, unsigned nalu_length)
{
    static const char *const damage[] = {
        [RTC_ORDER_FEWER] = "fewer frames per second",
        [RTC_ORDER_KEYS] = "other frames need them (b-pyramid), so all frames up to the next key "
                           "frame are left out, too: little more than key frames",
    };
    enum rtc_order_events event;
    bool is = rtc_order_take(&w->order, f, nalu_length, &f->pts, &event);

    if (event != RTC_ORDER_OLD)
        log_warn("%s: WebRTC players get no B frames, because browsers cannot show them: %s; ask "
                 "your encoder for bframes=0", live_source_name(w->reading.src), damage[event]);
    return is;
}

void rtc_wire_order(const struct rtc_wire *w, uint64_t *frames, uint64_t *left_out)
{
    *frames = w->order.frames;
    *left_out = w->order.left_out;
}

void rtc_wire_make(struct rtc_wire *w, struct frame *f, co_usec at)
{
    unsigned track = f->kind == AV_VIDEO ? 0 : 1;
    struct rtc_wire_track *t = &w->tracks[track];
    err_t err;

    if (!takes(f->codec) || (t->codec != f->codec && !open_track(w, track, f->codec)))
        return;
    if (track == 0 && !f->config && !in_order(w, f, t->packer.nalu_length))
        return;
    err = rtp_pack(&t->packer, f, &w->sink);
    w->broken += err != NULL;
    err_free(&err);
    put_all(w, track, f->key && track == 0, at);
}

static void add(struct rtc_wire *w, const struct av_packet *pkt, co_usec at)
{
    struct frame_reader r;
    struct frame f;

    frame_choose(&w->chosen, pkt);
    frame_begin(&r, pkt);
    while (frame_next(&r, &f)) {
        if (frame_is_of(&w->chosen, &f) && (f.kind != AV_AUDIO || !rtc_audio_put(w, &f, at)))
            rtc_wire_make(w, &f, at);
    }
    if (!pkt->config && pkt->kind != AV_DATA) {
        w->newest = pkt->dts;
        w->has_newest = true;
    }
}

/* ---- reading the stream */

static void begin(struct wire_reading *r)
{
    struct rtc_wire *w = container_of(r, struct rtc_wire, reading);

    rtc_audio_begin(w);
    w->chosen = (struct frame_tracks){ 0 };
}

static void end(struct wire_reading *r)
{
    rtc_audio_end(container_of(r, struct rtc_wire, reading));
}

static void config(struct wire_reading *r, const struct av_packet *pkt, co_usec now)
{
    add(container_of(r, struct rtc_wire, reading), pkt, now);
}

static const struct wire_reading_ops reading = { .begin = begin, .end = end, .config = config };

static void on_packets(struct wire_reading *r)
{
    struct rtc_wire *w = container_of(r, struct rtc_wire, reading);

    w->set.on_packets(w->set.arg);
}

bool rtc_wire_take(struct rtc_wire *w, co_usec now)
{
    uint64_t most = rtp_log_head(w->log) + TURN;
    const struct av_packet *pkt = NULL;

    if (wire_reading_on(&w->reading)) {
        wire_reading_unpark(&w->reading);
        while (rtp_log_head(w->log) < most && (pkt = wire_reading_next(&w->reading, now)))
            add(w, pkt, wire_reading_came(&w->reading, pkt, now));
        if (!pkt && w->set.on_packets)
            wire_reading_park(&w->reading, on_packets);
        if (w->out.cap > OUT_KEPT || w->out.bad) {
            wr_free(&w->out);
            wr_init(&w->out, OUT_MAX);
        }
    }
    rtc_wire_trim(w, now);
    return pkt != NULL;
}

/* ---- clocks */

static bool cut_moment(struct rtc_wire *w, const struct rtc_wire_track *t, int64_t *ticks,
                       int64_t *unix_us)
{
    co_usec late = co_now() - live_source_came(w->reading.src, w->newest);

    if (!w->has_newest || !t->based)
        return false;
    *unix_us = rtp_wire_wall_at(&w->wall, w->newest, co_wall_ms() * 1000 - late);
    *ticks = rtp_ticks(w->newest, t->clock) + t->ticks_shift;
    return true;
}

bool rtc_wire_moment(struct rtc_wire *w, enum av_kind kind, int64_t *ticks, int64_t *unix_us)
{
    const struct rtc_wire_track *t = &w->tracks[kind == AV_VIDEO ? 0 : 1];

    if (!w->relays)
        return cut_moment(w, t, ticks, unix_us);
    *ticks = t->moment_ticks;
    *unix_us = t->moment_us;
    return t->has_moment;
}

unsigned rtc_wire_epoch(const struct rtc_wire *w)
{
    return w->epoch;
}

/* ---- create and free */

struct rtc_wire *rtc_wire_new(struct live_source *src, const struct rtc_wire_opts *opts)
{
    struct rtc_wire *w = must(calloc(1, sizeof(*w)));

    *w = (struct rtc_wire){ .set = *opts, .log = rtp_log_new(),
                            .sink = { .head = sizeof(struct piece), .packet = on_packet } };
    wr_init(&w->out, OUT_MAX);
    w->sink.out = &w->out;
    wire_reading_init(&w->reading, &reading, src, opts->counter);
    wire_reading_count(&w->reading, rtp_log_bytes(w->log));
    return w;
}

void rtc_wire_free(struct rtc_wire *w)
{
    if (!w)
        return;
    wire_reading_fini(&w->reading);
    for (unsigned i = 0; i < RTP_LOG_TRACKS; i++) {
        if (w->tracks[i].open)
            rtp_packer_fini(&w->tracks[i].packer);
    }
    wr_free(&w->out);
    rtp_log_free(w->log);
    free(w);
}

struct rtp_log *rtc_wire_log(struct rtc_wire *w)
{
    return w->log;
}

bool rtc_wire_join(const struct rtc_wire *w, uint64_t *position)
{
    struct live_span span = { .first = rtp_log_first(w->log), .head = rtp_log_head(w->log) };

    span.have_key = rtp_log_key(w->log, &span.key);
    return wire_reading_join(&w->reading, &span, position);
}

static void read_or_not(struct rtc_wire *w)
{
    bool reads = w->wanted && !w->relays;

    if (reads && !wire_reading_on(&w->reading)) {
        rtc_wire_rebase(w);
        rtp_log_no_key(w->log);
    }
    wire_reading_set(&w->reading, reads);
}

void rtc_wire_wanted(struct rtc_wire *w, bool wanted)
{
    w->wanted = wanted;
    read_or_not(w);
    if (!wanted)
        rtc_wire_trim(w, co_now());
}

/* Before the wire reads, uses the codec of the source. */
enum av_codec rtc_wire_codec(const struct rtc_wire *w, enum av_kind kind)
{
    enum av_codec codec = w->tracks[kind == AV_VIDEO ? 0 : 1].codec;
    struct live_source_stat stat;

    if (codec != AV_CODEC_NONE || w->relays)
        return codec;
    live_source_stat(w->reading.src, &stat);
    codec = kind == AV_VIDEO ? stat.video : stat.audio;
    if (rtc_audio_converts(w, codec))
        return AV_OPUS;
    return takes(codec) ? codec : AV_CODEC_NONE;
}
