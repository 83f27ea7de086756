/* SPDX-License-Identifier: MIT */
/* rtp_frames.c - collects complete frames from packets, and computes their presentation and
 * decoding times. */
#include "intake/rtp_impl.h"

#include "base/log.h"
#include "intake/media.h"
#include "proto/rtp/sender.h"

#include <string.h>

/* A time belongs to a restarted clock if it goes back by more than this, or ahead by more than this
 * plus the time that has passed: cameras set their clocks. It is less than a jump of the stream's
 * clock (live/clock.c), which is shared by all tracks. B frames go back by less. */
#define MOST_BACK_VIDEO AV_MS(500)
#define MOST_BACK_AUDIO AV_MS(200)
#define MOST_AHEAD AV_MS(2500)

/* ---- codec and configuration */

void rtp_intake_describe(struct intake_track *t)
{
    size_t size;
    const uint8_t *config = rtp_unpack_config(&t->unpack, &size);

    if (config)
        (void)intake_parse(&t->info, t->codec, config, size);
    rtp_dts_init(&t->dts, t->info.reorder, t->info.fps);
}

/* Parses the frame, for codecs that have their configuration in it. */
static bool parse_frame(struct intake_track *t, const struct rtp_frame *f)
{
    const struct av_codec_row *row = av_codec_row(t->codec);

    t->described = true;
    if (row->frame_config > 0)
        return intake_parse_frame(&t->info, t->codec, f->data, f->size);
    if (row->key_size && t->info.width == 0) {
        t->described = f->key;
        return f->key && row->key_size(f->data, f->size, &t->info.width, &t->info.height);
    }
    return false;
}

/* ---- times */

/* The first packet after a restart of the clock may have completed the frame before it, which then
 * belongs to the old clock. */
static bool is_after_restart(struct intake_track *t, int64_t ticks)
{
    int64_t apart = ticks - t->restart_ticks, second = t->unpack.clock;

    if (!t->restart || (!t->restart_sure && (apart < -second || apart > second)))
        return false;
    t->restart = t->restart_sure = false;
    return true;
}

static bool jumps(const struct intake_track *t, int64_t ticks, co_usec now)
{
    int64_t step = rtp_ticks_back(ticks - t->ticks, t->unpack.clock);
    int64_t back = t->kind == AV_VIDEO ? MOST_BACK_VIDEO : MOST_BACK_AUDIO;

    return step < -back || step > av_from_us(now - t->at) + MOST_AHEAD;
}

/* Returns true if the clock was restarted between the previous frame and this one. */
static bool is_restart(struct intake_track *t, int64_t ticks, co_usec now)
{
    bool restart = is_after_restart(t, ticks) || jumps(t, ticks, now);

    restart &= t->timed;
    t->timed = true;
    t->ticks = ticks;
    t->at = now;
    return restart;
}

static void note_packet(struct intake_track *t, int64_t ticks, co_usec now)
{
    if (t->newest.at && t->newest.ticks == ticks)
        return;
    t->before = t->newest;
    t->newest = (struct intake_came){ ticks, now };
}

/* Returns the arrival of a frame. While markers are not reliable yet, only the next packet shows
 * that a frame is complete. */
static co_usec came(const struct intake_track *t, int64_t ticks, co_usec now)
{
    const struct intake_came *c = t->newest.ticks == ticks ? &t->newest : &t->before;

    return c->at && c->ticks == ticks ? c->at : now;
}

/* Computes the decoding time on the track's own clock, so that corrections between tracks do not
 * look like B frames. */
static int64_t decoded_at(struct intake_track *t, int64_t shown, int64_t own, bool restart)
{
    if (t->kind != AV_VIDEO)
        return shown;
    if (restart)
        rtp_dts_init(&t->dts, t->dts.depth, AV_CLOCK / (double)t->dts.each);
    return rtp_dts_next(&t->dts, own) + shown - own;
}

/* ---- packets of the stream */

struct av_packet *rtp_intake_packet(struct rtp_intake *r, enum av_codec codec,
                                    const uint8_t *data, size_t size, bool config)
{
    struct av_packet *pkt = intake_packet(r->src, av_codec_row(codec)->kind, codec, size, config);

    if (pkt)
        memcpy(pkt->data, data, size);
    else
        r->no_memory++;
    return pkt;
}

static struct av_packet *metadata(const struct rtp_intake *r)
{
    struct intake_medium media[RTP_INTAKE_TRACKS];
    unsigned n = 0;

    for (unsigned i = 0; i < r->n; i++) {
        const struct intake_track *t = &r->tracks[i];

        if (!t->open)
            continue;
        media[n++] = (struct intake_medium){
            .kind = t->kind, .codec = t->as, .info = &t->info, .channels = t->channels,
            /* if the codec has no clock of its own, the clock is its sample rate */
            .rate = av_codec_row(t->codec)->rtp.clock == 0 ? t->unpack.clock : 0,
        };
    }
    return intake_metadata(media, n, r->opts.signature);
}

/* Pushes the metadata in front of the frames that they describe. */
static void push_metadata(struct rtp_intake *r, int64_t ticks)
{
    struct av_packet *pkt = metadata(r);

    r->metadata_due = false;
    if (pkt)
        intake_push(r->src, pkt, ticks);
}

static void push_config(struct rtp_intake *r, struct intake_track *t, const struct rtp_frame *f)
{
    struct av_packet *pkt;

    r->metadata_due |= intake_parse(&t->info, t->codec, f->data, f->size) == INTAKE_CHANGED;
    if (t->info.reorder > t->dts.depth && t->info.reorder <= RTP_DTS_DEPTH_MAX)
        t->dts.depth = t->info.reorder;
    t->described = false;
    intake_log_config(&r->logged, t->kind, t->codec, &t->info, f->size);
    if (r->metadata_due && !av_codec_row(t->codec)->key_size) /* else the frame has better values */
        push_metadata(r, t->pushed);
    pkt = rtp_intake_packet(r, t->codec, f->data, f->size, true);
    if (pkt)
        intake_push(r->src, pkt, t->pushed);
}

static void push_frame(struct rtp_intake *r, struct intake_track *t, const struct rtp_frame *f,
                       co_usec now)
{
    unsigned number = (unsigned)(t - r->tracks);
    bool restart = is_restart(t, f->ticks, now);
    int64_t shown = rtp_align_time(&r->align, number, f->ticks, restart,
                                   came(t, f->ticks, now));
    int64_t decoded = decoded_at(t, shown, rtp_ticks_back(f->ticks, t->unpack.clock), restart);
    struct av_packet *pkt;

    if (!t->described)
        r->metadata_due |= parse_frame(t, f);
    if (r->metadata_due)
        push_metadata(r, decoded);
    t->pushed = decoded;
    if (t->as != t->codec) {
        rtp_intake_audio_put(r, f, decoded, now);
        return;
    }
    if (f->key && t->kind == AV_VIDEO)
        rtp_intake_audio_key(r, decoded);
    pkt = rtp_intake_packet(r, t->codec, f->data, f->size, false);
    if (!pkt)
        return;
    pkt->key = f->key && t->kind == AV_VIDEO;
    pkt->cts = (int32_t)(shown - decoded);
    intake_push(r->src, pkt, decoded);
}

void rtp_intake_frames(struct rtp_intake *r, struct intake_track *t, co_usec now)
{
    struct rtp_received got;
    struct rtp_frame f;

    while (rtp_receiver_next(&t->rx, now, &got)) {
        struct rtp_payload p = { .data = got.payload, .size = got.size, .ticks = got.time,
                                 .marker = got.marker, .restart = got.restart, .lost = got.lost };

        note_packet(t, got.time, now);
        if (got.restart) {
            t->restart = true;
            t->restart_ticks = got.time;
        }
        rtp_unpack_put(&t->unpack, &p);
        while (rtp_unpack_next(&t->unpack, &f)) {
            if (!f.config)
                push_frame(r, t, &f, now);
            else if (t->as == t->codec)
                push_config(r, t, &f);
        }
        t->restart_sure = t->restart;
    }
}
