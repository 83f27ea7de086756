/* SPDX-License-Identifier: MIT */
/* feed.c - a player's position in a file, and its clock. */
#include "vod/feed.h"

#include "base/container_of.h"
#include "base/log.h"
#include "vod/feed_impl.h"
#include "vod/wires.h"
#include "wire/flv.h"
#include "wire/rtmp.h"

#include <assert.h>
#include <string.h>

enum {
    HEAD_MAX = 256 * 1024,
    KEYS_ABOVE = 2 * VOD_SCALE_1, /* above this speed only key frames are sent */
};

/* The step of timestamps after a seek: more than the distance of audio and video that are shown
 * together. */
#define GAP AV_MS(100)
/* A shorter file does not loop: it would be neither heard nor seen. */
#define LOOP_MIN AV_MS(200)
/* How far ahead media is sent when a player resumes after a pause: one turn of its sender. */
#define AHEAD_AGAIN CO_MS(350)
/* The largest position, so that no sum of times overflows. */
#define TIME_MAX (INT64_MAX / 4)

/* ---- the clock */

static int64_t ticks_of(const struct vod_feed *f, co_usec us)
{
    return av_from_us(us) * f->scale / VOD_SCALE_1 * f->speed / VOD_SCALE_1;
}

static co_usec time_now(const struct vod_feed *f)
{
    return f->paused_at ? f->paused_at : co_now();
}

static int64_t clock_now(const struct vod_feed *f)
{
    return f->clock_dts + ticks_of(f, time_now(f) - f->clock_at);
}

/* A player that resumes after a pause still has the media that was sent ahead. Some players show
 * the first frame that arrives at once, so it is sent when it is due, and the lead then grows
 * slowly to its usual value. */
static co_usec ahead(const struct vod_feed *f)
{
    co_usec v = AHEAD_AGAIN + (time_now(f) - f->went_on_at) / 10;

    return f->went_on_at && v < VOD_AHEAD ? v : VOD_AHEAD;
}

bool vod_feed_is_ahead(const struct vod_feed *f)
{
    return ahead(f) == VOD_AHEAD;
}

int64_t vod_feed_wants(const struct vod_feed *f)
{
    return clock_now(f) + ticks_of(f, ahead(f));
}

void vod_feed_catch_up(struct vod_feed *f)
{
    int64_t late = clock_now(f) - f->next_dts;

    if (late <= ticks_of(f, VOD_LATE_MAX))
        return;
    if (!f->late)
        log_trace("%s: a player takes less than it plays, it goes on %lld ms late",
                  vod_file_name(f->file), av_to_ms(late));
    f->late = true;
    f->clock_dts = f->next_dts;
    f->clock_at = co_now();
}

static bool runs(const struct vod_feed *f)
{
    return f->playing && !f->ended && !f->failed;
}

/* ---- the interface for senders */

static const struct vod_feed *of_const(const struct live_feed *feed)
{
    return (const struct vod_feed *)feed; /* the first member */
}

static bool ready(const struct live_feed *feed)
{
    const struct vod_feed *f = of_const(feed);

    return f->playing && (!f->waits || f->cut || f->head.len > 0);
}

static bool has_ended(const struct live_feed *feed)
{
    const struct vod_feed *f = of_const(feed);

    return f->head.bad != ERR_OK || ((f->failed || f->ended) && !f->cut && f->head.len == 0);
}

static co_usec in_us(int64_t time) /* 1/90000 s */
{
    return time * 100 / 9;
}

static co_usec lag(const struct live_feed *feed)
{
    const struct vod_feed *f = of_const(feed);
    int64_t behind = runs(f) ? vod_feed_wants(f) - f->next_dts : 0;

    return behind > 0 ? in_us(behind) * VOD_SCALE_1 / f->scale : 0;
}

static uint64_t pending(const struct live_feed *feed)
{
    const struct vod_feed *f = of_const(feed);
    int64_t behind = runs(f) ? vod_feed_wants(f) - f->next_dts : 0;

    return behind > 0 ? (uint64_t)behind / (f->spacing ? f->spacing : AV_CLOCK / 25) : 0;
}

static void pause_clock(struct live_feed *feed, bool paused)
{
    struct vod_feed *f = container_of(feed, struct vod_feed, feed);

    if (paused && !f->paused_at)
        f->paused_at = co_now();
    if (paused || !f->paused_at)
        return;
    f->clock_at += co_now() - f->paused_at;
    f->paused_at = 0;
    f->went_on_at = f->counts ? co_now() : 0;
}

static bool describe(const struct live_feed *feed, struct live_feed_info *out)
{
    static const int tracks[LIVE_FEED_TRACKS] = { [LIVE_FEED_VIDEO] = DEMUX_VIDEO,
                                                  [LIVE_FEED_AUDIO] = DEMUX_AUDIO };
    const struct vod_feed *f = of_const(feed);
    const struct demux_info *info;

    if (!f->file)
        return false;
    info = vod_file_info(f->file);
    *out = (struct live_feed_info){
        .name = vod_file_name(f->file), .position = in_us(vod_feed_position(f)),
        .duration = in_us(info->duration), .scale = f->scale, .kbps = info->kbps,
        .turn = vod_turn(info->kbps),
    };
    for (int i = 0; i < LIVE_FEED_TRACKS; i++) {
        const struct demux_track *t = &info->tracks[tracks[i]];

        out->tracks[i] = (struct live_feed_track){ t->codec, t->config, t->config_size };
    }
    return true;
}

static const struct live_feed_kind kind = {
    .ready = ready, .ranges = vod_feed_ranges, .advance = vod_feed_advance, .ended = has_ended,
    .lag = lag, .pending = pending, .paused = pause_clock, .describe = describe,
};

static void on_part(struct vod_wait *w)
{
    struct vod_feed *f = container_of(w, struct vod_feed, wait);

    f->waits = false;
    if (f->feed.on_more)
        f->feed.on_more(&f->feed, f->feed.arg);
}

/* ---- open and close */

/* Copies byte for byte, with the padding between members, because uses are compared with
 * memcmp(). */
static void take_use(struct vod_feed *f, const struct vod_wire_use *use)
{
    f->use.wire = use->wire;
    f->use.tracks = use->tracks;
    for (unsigned i = 0; i < LIVE_PARAMS; i++)
        f->use.param[i] = use->param[i];
    f->use.wall = vod_file_opened(f->file);
    f->tracks = UINT32_MAX;
    if (f->counts)
        vod_rtp_clocks(f, f->clocks);
}

void vod_feed_open(struct vod_feed *f, struct vod_file *file, const struct vod_feed_setup *setup)
{
    memset(f, 0, sizeof(*f));
    f->feed.kind = &kind;
    f->file = vod_file_ref(file);
    vod_file_begin_play(file);
    f->counts = f->fresh = setup->use.wire == &vod_wire_rtp;
    take_use(f, &setup->use);
    f->wait.on_part = on_part;
    f->scale = f->speed = VOD_SCALE_1;
    f->stop = INT64_MAX;
    f->sent_pts = INT64_MIN;
    f->loop = setup->loop && vod_file_info(file)->duration >= LOOP_MIN;
    wr_init(&f->head, HEAD_MAX);
}

void vod_feed_close(struct vod_feed *f)
{
    if (!f->file)
        return;
    vod_feed_turn_end(f);
    vod_wait_end(&f->wait);
    if (f->cut)
        vod_part_put(f->file, f->cut, true);
    wr_free(&f->head);
    vod_file_end_play(f->file);
    f->file = vod_file_unref(f->file);
    memset(f, 0, sizeof(*f));
}

/* ---- changes of tracks: the format leaves tracks out; the division into parts stays the same */

static uint32_t out_of(uint32_t tracks)
{
    return (tracks & VOD_TRACKS_VIDEO ? 0 : FLV_WIRE_NO_VIDEO) |
           (tracks & VOD_TRACKS_AUDIO ? 0 : FLV_WIRE_NO_AUDIO);
}

static uint32_t in_of(uint32_t left_out)
{
    return (left_out & FLV_WIRE_NO_VIDEO ? 0 : VOD_TRACKS_VIDEO) |
           (left_out & FLV_WIRE_NO_AUDIO ? 0 : VOD_TRACKS_AUDIO);
}
static_assert((int)FLV_WIRE_NO_VIDEO == RTMP_WIRE_NO_VIDEO, "a bit of both");
static_assert((int)FLV_WIRE_NO_AUDIO == RTMP_WIRE_NO_AUDIO, "a bit of both");
static_assert((int)FLV_WIRE_NO_OPUS == RTMP_WIRE_NO_OPUS, "a bit of both");

static uint32_t *left_out(struct vod_feed *f)
{
    return &f->use.param[f->use.wire == &vod_wire_rtmp ? RTMP_WIRE_LEAVE_OUT : FLV_WIRE_LEAVE_OUT];
}

static void leave_out(struct vod_feed *f, uint32_t bits)
{
    *left_out(f) = (*left_out(f) & FLV_WIRE_NO_OPUS) | bits;
}

/* Applies a pending change of tracks at once: after a seek the caller sends the head. */
static void take_tracks(struct vod_feed *f)
{
    if (f->tracks != UINT32_MAX)
        leave_out(f, out_of(f->tracks & f->use.tracks));
    f->tracks = UINT32_MAX;
}

void vod_feed_change_tracks(struct vod_feed *f)
{
    uint32_t has = in_of(*left_out(f)), more;
    struct vod_wire_use use;

    if (f->tracks == UINT32_MAX || f->offset > 0)
        return;
    more = f->tracks & f->use.tracks & ~has;
    if (f->at.part > 0)
        more &= ~(uint32_t)VOD_TRACKS_VIDEO;
    has = (has & f->tracks) | more;
    leave_out(f, out_of(has));
    if (has == (f->tracks & f->use.tracks))
        f->tracks = UINT32_MAX;
    use = f->use;
    use.tracks = more;
    vod_head_configs(f->file, &use, f->next_dts, &f->head);
}

void vod_feed_tracks(struct vod_feed *f, uint32_t tracks)
{
    if (!f->counts)
        f->tracks = tracks;
}

/* ---- play */

static bool has_video(const struct vod_feed *f)
{
    return f->use.tracks & VOD_TRACKS_VIDEO &&
           vod_file_info(f->file)->tracks[DEMUX_VIDEO].codec != AV_CODEC_NONE;
}

/* Makes timestamps continue after the last frame that the player got. */
static void leave(struct vod_feed *f)
{
    vod_feed_turn_end(f);
    vod_wait_end(&f->wait);
    f->waits = false;
    f->numbers = f->now;
    f->head.len = f->head_kept;
    if (f->sent_pts == INT64_MIN)
        return;
    f->resume = vod_renumber_time(f->sent_pts, f->shift, f->scale) + GAP;
    f->resumed = true;
}

void vod_feed_use(struct vod_feed *f, const struct vod_wire_use *use)
{
    leave(f);
    f->sent_pts = INT64_MIN; /* the position is known */
    f->playing = false;
    take_use(f, use);
}

static void place(struct vod_feed *f, int64_t time)
{
    const struct demux_index *index = vod_file_index(f->file);

    f->at = (struct vod_at){ .place = demux_seek(index, time) };
    f->begin_dts = demux_position_time(index, f->at.place, &f->begin_pts);
    f->offset = 0;
    f->next_dts = f->clock_dts = f->begin_dts;
    f->sent_pts = INT64_MIN;
    f->clock_at = co_now();
    f->went_on_at = 0;
    if (f->paused_at)
        f->paused_at = f->clock_at;
}

int64_t vod_feed_play(struct vod_feed *f, int64_t from, int64_t to, int scale)
{
    int64_t zero = vod_file_info(f->file)->zero;

    leave(f);
    take_tracks(f);
    f->scale = scale > 0 ? scale : VOD_SCALE_1;
    f->use.keys_only = f->scale > KEYS_ABOVE && has_video(f);
    f->use.round = 0;
    place(f, (from < 0 ? 0 : from < TIME_MAX ? from : TIME_MAX) + zero);
    f->stop = to < TIME_MAX ? to + zero : INT64_MAX;
    f->shift = f->resumed ? f->resume - vod_renumber_time(f->begin_dts, 0, f->scale) : 0;
    f->playing = true;
    f->ended = f->failed = f->late = false;
    if (f->fresh)
        vod_rtp_numbers(f, &f->numbers);
    f->now = f->numbers;
    return f->begin_pts - zero;
}

void vod_feed_speed(struct vod_feed *f, int speed)
{
    if (f->playing)
        f->clock_dts = clock_now(f);
    f->clock_at = f->paused_at ? f->paused_at : co_now();
    f->speed = speed;
}

int64_t vod_feed_position(const struct vod_feed *f)
{
    const struct demux_info *info = vod_file_info(f->file);
    int64_t at = f->playing ? clock_now(f) : 0;

    if (at > f->next_dts) /* the feed waits for the next frame */
        at = f->next_dts;
    at += f->begin_pts - f->begin_dts - info->zero;
    if (at < 0 && f->loop)
        at += info->duration;
    return at < 0 ? 0 : at > info->duration ? info->duration : at;
}

void vod_feed_put_head(struct vod_feed *f, const uint8_t *data, size_t size)
{
    wr_bytes(&f->head, data, size);
    f->failed |= f->head.bad != ERR_OK;
}

void vod_feed_keep(struct vod_feed *f, const uint8_t *data, size_t size)
{
    vod_feed_put_head(f, data, size);
    f->head_kept = f->head.len;
}

bool vod_feed_failed(const struct vod_feed *f)
{
    return f->failed;
}

/* ---- from part to part */

void vod_feed_adopt(struct vod_feed *f, const struct vod_part *part)
{
    if (!f->fresh)
        return;
    f->fresh = false;
    f->numbers = f->now = part->begin;
}

void vod_numbers_pass(struct vod_numbers *n, const struct vod_part *part)
{
    n->reported = part->end.reported;
    for (unsigned i = 0; i < DEMUX_TRACKS; i++) {
        n->tracks[i].seq += (uint16_t)(part->end.tracks[i].seq - part->begin.tracks[i].seq);
        n->tracks[i].packets += part->end.tracks[i].packets - part->begin.tracks[i].packets;
        n->tracks[i].bytes += part->end.tracks[i].bytes - part->begin.tracks[i].bytes;
    }
}

static void say_bye(struct vod_feed *f)
{
    if (f->counts)
        vod_rtp_bye(f, &f->head);
}

void vod_feed_stop(struct vod_feed *f)
{
    f->ended = true;
    say_bye(f);
}

void vod_feed_fail(struct vod_feed *f)
{
    if (!f->failed)
        say_bye(f);
    f->failed = true;
}

/* Starts the next round of a loop: timestamps continue as if the file followed itself. RTP shares
 * the parts of the first round and shifts their times; in the other formats the bytes contain the
 * times. */
static void go_round(struct vod_feed *f)
{
    int64_t duration = vod_file_info(f->file)->duration;

    f->at = (struct vod_at){ .place = demux_seek(vod_file_index(f->file), 0) };
    if (f->counts)
        f->shift += vod_renumber_time(duration, 0, f->scale);
    else
        f->use.round++;
    f->clock_dts -= duration;
    f->next_dts -= duration;
    if (f->sent_pts != INT64_MIN)
        f->sent_pts -= duration;
}

void vod_feed_pass(struct vod_feed *f, const struct vod_part *part)
{
    unsigned n = part->n;

    vod_numbers_pass(&f->numbers, part);
    f->now = f->numbers;
    f->offset = 0;
    f->next_dts = part->next_dts;
    if (n > 1)
        f->spacing = (uint32_t)((part->marks[n - 1].dts - part->marks[0].dts) / (n - 1));
    if (!part->last) {
        f->at = part->next;
    } else if (f->loop) {
        go_round(f);
    } else {
        vod_feed_stop(f);
    }
}
