/* SPDX-License-Identifier: MIT */
/* run.c - reads a stream's packets and records them: decides where files start and end, and which
 * packets are written together. */
#include "base/log.h"
#include "base/pace.h"
#include "sink/dvr/stream.h"

#define TURN CO_MS(250)
#define FRAGMENT AV_MS(1000)   /* an MP4 fragment ends at a key frame after this time, */
#define LONG AV_MS(4000)       /* or anywhere after this time */
#define VIDEO_GONE AV_MS(3000)

/* Limits for files and blocks, for any publisher: over this rate they become longer, and packets
 * that need a new file are dropped. */
static const struct pace files = { CO_MS(250), 40 }, blocks = { CO_MS(50), 100 };

static bool segmented(const struct dvr_stream *s)
{
    return s->set->plan == CONF_DVR_SEGMENT;
}

static bool has_video(const struct dvr_stream *s, int64_t dts)
{
    return s->has_video && dts - s->last_video <= VIDEO_GONE;
}

static void flush(struct dvr_stream *s, int64_t dts, bool next_is_key)
{
    if (s->file && s->file->mp4 && !mp4_frag_is_empty(&s->mp4)) {
        if (!s->has_header)
            mp4_frag_header(&s->mp4, &s->header);
        s->has_header = true;
        mp4_frag_cut(&s->mp4, dts, false, &s->block);
    }
    if (blocks_len(&s->block) > 0)
        dvr_file_append(s);
    s->has_key = false;
    s->block_key = next_is_key;
    s->block_begin = dts;
}

void dvr_close(struct dvr_stream *s)
{
    if (!s->file)
        return;
    flush(s, s->file->newest + AV_MS(40), false);
    dvr_file_close(s);
}

static void feed_mp4(struct dvr_stream *s, const struct frame *f);

static void configure_mp4(struct dvr_stream *s)
{
    const struct av_packet *v[LIVE_CONFIGS];
    size_t n = live_reader_configs(&s->reader, v, LIVE_CONFIGS);

    for (size_t i = 0; i < n; i++) {
        struct frame_reader r;
        struct frame f;

        frame_begin(&r, v[i]);
        while (frame_next(&r, &f))
            feed_mp4(s, &f);
    }
}

static bool may_open(const struct dvr_stream *s)
{
    return pace_allows(&files, s->files_full_at, co_now());
}

static void open_file(struct dvr_stream *s, int64_t dts)
{
    if (!pace_take(&files, &s->files_full_at, co_now()))
        return;
    s->file = dvr_file_new(s, dts);
    if (!s->file) {
        condition_failed_text(&s->condition, "a recording cannot have this name: %s", s->set->path);
        return;
    }
    s->bytes = 0;
    s->file_at = co_clock();
    if (!s->disk_bad)
        condition_be(&s->condition, CONDITION_RUNNING);
    s->has_header = false;
    s->header.len = 0;
    s->block_key = true;
    s->block_begin = dts;
    if (!s->file->mp4) {
        dvr_flv_begin(s);
        return;
    }
    mp4_frag_fini(&s->mp4);
    mp4_frag_init(&s->mp4, DVR_FRAGMENT_MAX, &s->cache->blocks);
    s->mp4.origin = dts;
    configure_mp4(s);
}

/* Returns true if a file may start or end at this packet. */
static bool boundary(const struct dvr_stream *s, const struct av_packet *pkt)
{
    if (pkt->config || pkt->extra || pkt->kind == AV_DATA)
        return false;
    if (pkt->kind == AV_VIDEO)
        return pkt->key || !s->set->wait_keyframe;
    return !has_video(s, pkt->dts);
}

static bool is_start(const struct dvr_stream *s, const struct av_packet *pkt)
{
    if (pkt->config || pkt->extra || pkt->kind == AV_DATA)
        return false;
    return pkt->kind == AV_VIDEO ? pkt->key : !has_video(s, pkt->dts);
}

/* Logs once for all recordings that become full at about the same time. */
static void log_full(struct dvr_stream *s, enum disk_lack lack)
{
    unsigned n =
        reject_counters_add(&s->dvrs->sink.env->reject_counters, REJECT_DVR_DISK, co_now());

    if (n == 0)
        return;
    if (lack == DISK_LACKS_QUOTA)
        log_warn("%u recordings stop, the last one of %s/%s: %s has %lld MB of recordings, "
                 "dvr_quota is %lld MB; they resume when some are removed",
                 n, s->key->app, s->key->name, disk_room_root(&s->room),
                 (long long)disk_room_used(&s->room) >> 20, (long long)s->quota >> 20);
    else
        log_warn("%u recordings stop, the last one of %s/%s: the disk of %s has less than "
                 "limits.disk_free left",
                 n, s->key->app, s->key->name, disk_room_root(&s->room));
}

static bool has_room(struct dvr_stream *s)
{
    bool was_full = s->room.full;
    enum disk_lack lack = disk_room_lacks(&s->room, s->quota,
                                          s->dvrs->sink.env->conf->limits.disk_free);

    if (lack != DISK_LACKS_NOTHING && !was_full) {
        log_full(s, lack);
        condition_failed_text(&s->condition, "%s: %s", disk_room_root(&s->room),
                              lack == DISK_LACKS_QUOTA
                                  ? "its recordings take dvr_quota"
                                  : "the disk has less than disk_free (limits) left");
    }
    return lack == DISK_LACKS_NOTHING;
}

/* Returns true if the growing block is long or large enough. */
static bool block_ends(struct dvr_stream *s, int64_t dts, bool start)
{
    int64_t lasts = dts - s->block_begin;

    if (blocks_len(&s->block) > DVR_BLOCK * 4 || mp4_frag_bytes(&s->mp4) > DVR_FRAGMENT_MAX / 2)
        return true;
    return ((start && lasts >= FRAGMENT) || lasts >= LONG || lasts < 0) &&
           pace_take(&blocks, &s->blocks_full_at, co_now());
}

/* Ends the file or the block before this packet, if allowed there. */
static void cut(struct dvr_stream *s, const struct av_packet *pkt)
{
    bool start = is_start(s, pkt);
    bool any = pkt->kind == AV_VIDEO && !pkt->key; /* the next key frame comes soon */

    if (s->file && segmented(s) && boundary(s, pkt) && may_open(s) &&
        pkt->dts - s->file->begin >= s->set->duration * 9 / 100 - (any ? 0 : AV_MS(50)))
        dvr_close(s);
    if (s->file && !has_room(s))
        dvr_close(s);
    if (!s->file && boundary(s, pkt) && has_room(s))
        open_file(s, pkt->dts);
    if (!s->file || s->block_begin == pkt->dts)
        return;
    if (block_ends(s, pkt->dts, start))
        flush(s, pkt->dts, start);
}

/* ------------------------------------------------------------ MP4 */

static void left_out(struct dvr_stream *s, const struct frame *f, err_t err)
{
    bool *told = &s->told_codec[f->kind == AV_VIDEO ? 0 : 1];

    if (err_code(err) == ERR_UNSUPPORTED) {
        if (!*told)
            log_warn("%s: MP4 cannot contain %s, the track is dropped", s->name,
                     av_codec_name(f->codec));
        *told = true;
    } else if (s->bad++ == 0) {
        log_end("recording: a frame left out, more are only counted", &err);
    }
    err_free(&err);
}

/* An MP4 file has one codec configuration per track: a new one needs a new file. */
static bool needs_another_file(const struct dvr_stream *s, const struct frame *f)
{
    return s->has_header && mp4_frag_changes(&s->mp4, f);
}

static void feed_mp4(struct dvr_stream *s, const struct frame *f)
{
    bool changed;
    err_t err;

    if (!frame_is_of(&s->tracks, f))
        return;
    err = mp4_frag_add(&s->mp4, f, &changed);
    if (err)
        left_out(s, f, err);
}

/* Returns false if the file ended, and the next one waits for a frame to start with. */
static bool mp4_packet(struct dvr_stream *s, const struct av_packet *pkt)
{
    struct frame_reader r;
    struct frame f;

    frame_begin(&r, pkt);
    while (frame_next(&r, &f)) {
        if (frame_is_of(&s->tracks, &f) && needs_another_file(s, &f)) {
            dvr_close(s);
            return false;
        }
        feed_mp4(s, &f);
    }
    return true;
}

/* ------------------------------------------------------------ time */

void dvr_time_begin(struct dvr_stream *s)
{
    const struct conf_vhost *vhost = conf_vhost_find(s->conf, s->key->vhost);
    bool full = s->set->time_jitter == CONF_JITTER_FULL;

    s->keep_time = s->set->time_jitter == CONF_JITTER_OFF;
    s->correct_time =
        full && vhost && session_live_settings(s->conf, vhost).jitter != LIVE_JITTER_FULL;
    live_clock_init(&s->clock, LIVE_JITTER_FULL);
}

/* Returns the packet with the time of the recording; the caller owns a reference. */
static const struct av_packet *in_time(struct dvr_stream *s, const struct av_packet *pkt)
{
    struct av_packet *mine;

    if (!s->correct_time)
        return av_packet_ref(pkt);
    mine = av_packet_copy(pkt);
    if (mine)
        mine->dts = live_clock_correct(&s->clock, pkt, pkt->dts, co_now());
    return mine;
}

/* ------------------------------------------------------------ packets */

static void packet(struct dvr_stream *s, const struct av_packet *pkt)
{
    frame_choose(&s->tracks, pkt);
    if (pkt->kind == AV_VIDEO) {
        s->has_video = true;
        if (!pkt->config)
            s->last_video = pkt->dts;
    }
    cut(s, pkt);
    if (!s->file)
        return;
    if (s->file->mp4) {
        if (!mp4_packet(s, pkt) && boundary(s, pkt) && has_room(s)) {
            open_file(s, pkt->dts);
            if (s->file)
                (void)mp4_packet(s, pkt);
        }
    } else {
        dvr_flv_packet(s, pkt, pkt->dts);
    }
    if (s->file && !pkt->config && pkt->kind != AV_DATA)
        s->file->newest = pkt->dts;
}

static void read_configs(struct dvr_stream *s)
{
    const struct av_packet *v[LIVE_CONFIGS];
    size_t n = live_reader_configs(&s->reader, v, LIVE_CONFIGS);

    for (size_t i = 0; i < n; i++) {
        frame_choose(&s->tracks, v[i]);
        s->has_video |= v[i]->kind == AV_VIDEO;
        if (v[i]->kind == AV_VIDEO)
            s->last_video = s->correct_time ? s->clock.last : v[i]->dts;
    }
}

void dvr_drain(struct dvr_stream *s, bool all)
{
    const struct av_packet *pkt;

    while ((all || !co_slice_over()) && (pkt = live_reader_next(&s->reader))) {
        if (!s->begun)
            read_configs(s);
        s->begun = true;
        if (s->reader.dropped != s->dropped) {
            log_warn("%s: %llu packets lost", s->name,
                     (unsigned long long)(s->reader.dropped - s->dropped));
            s->dropped = s->reader.dropped;
        }
        pkt = in_time(s, pkt);
        if (!pkt) /* out of memory: drops the frame */
            continue;
        packet(s, pkt);
        (void)av_packet_unref(pkt);
    }
}

err_t dvr_run(void *stream)
{
    struct dvr_stream *s = stream;
    err_t err = NULL;

    while (s->live && !err && !(err = co_check())) {
        if (dvr_stream_has_to_wait(s)) {
            err = co_sleep(TURN);
            continue;
        }
        dvr_drain(s, false);
        if (dvr_stream_finish(s))
            break;
        if (co_slice_over())
            co_yield();
        else
            err = live_reader_wait(&s->reader, TURN);
    }
    err_free(&err);
    dvr_stream_unref(s);
    return NULL;
}
