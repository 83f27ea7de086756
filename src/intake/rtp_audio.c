/* SPDX-License-Identifier: MIT */
/* rtp_audio.c - converts received Opus to AAC for all players except WebRTC players.
 *
 * RTMP, HTTP-FLV, HLS, recordings and all other outputs read the stream's log, and most of them do
 * not support Opus. WebRTC players get the publisher's packets and need no log. So AAC is needed
 * only while the log is read, here or at a replica. Otherwise the log has only the configuration,
 * and the newest Opus packets are kept here, so that the first reader gets audio from the newest
 * key frame on.
 */
#include "intake/rtp_impl.h"

#include "base/must.h"
#include "intake/media.h"

#include <stdlib.h>

enum { RECENT = 128 }; /* packets of 20 ms */

/* Less than the lag that live/clock.c allows a track. */
#define RECENT_TIME AV_MS(2500)
/* The transcoder runs on for this time after the last reader has left. */
#define LINGER CO_SECONDS(10)

struct intake_audio {
    struct transcoder *transcoder; /* NULL: the log is not read */
    co_usec read_at;         /* last time it was read; 0: never */
    bool configured;         /* the configuration is in the log */
    bool has_key;
    int64_t key;             /* time of the newest key frame */
    struct av_packet *recent[RECENT]; /* newest Opus packets */
    unsigned first, n;
};

/* ---- packets kept while the log is not read */

static void forget_first(struct intake_audio *s)
{
    (void)av_packet_unref(s->recent[s->first]);
    s->first = (s->first + 1) % RECENT;
    s->n--;
}

static void keep(struct rtp_intake *r, const struct audio_in *in)
{
    struct intake_audio *s = r->audio;
    struct av_packet *pkt = rtp_intake_packet(r, AV_OPUS, in->data, in->size, false);

    if (!pkt)
        return;
    pkt->dts = in->time;
    while (s->n > 0 && (s->n == RECENT || in->time - s->recent[s->first]->dts > RECENT_TIME ||
                        in->time < s->recent[s->first]->dts))
        forget_first(s);
    s->recent[(s->first + s->n++) % RECENT] = pkt;
}

static void give_recent(struct intake_audio *s)
{
    for (; s->n > 0; forget_first(s)) {
        const struct av_packet *pkt = s->recent[s->first];
        const struct audio_in in = { .codec = AV_OPUS, .time = pkt->dts, .data = pkt->data,
                                     .size = pkt->size };

        if (s->transcoder && (!s->has_key || pkt->dts >= s->key))
            transcoder_put(s->transcoder, &in);
    }
}

/* ---- AAC */

static void push(struct rtp_intake *r, const uint8_t *data, size_t size, bool config, int64_t ticks)
{
    struct av_packet *pkt = rtp_intake_packet(r, AV_AAC, data, size, config);

    if (pkt)
        intake_push(r->src, pkt, ticks);
}

static void on_frame(void *arg, const struct audio_out *out)
{
    struct rtp_intake *r = arg;

    if (!r->opts.publisher->replaced)
        push(r, out->data, out->size, false, out->time);
}

static void open_transcoder(struct rtp_intake *r)
{
    const struct transcoder_opts opts = {
        .group = r->opts.transcoders, .name = live_source_name(r->src), .to = AV_AAC,
        .bitrate = r->opts.aac_bitrate, .on_frame = on_frame, .arg = r,
    };

    r->audio->transcoder = transcoder_open(&opts);
    give_recent(r->audio);
}

static bool is_wanted(struct rtp_intake *r, co_usec now)
{
    struct intake_audio *s = r->audio;

    if (live_source_is_read(r->src))
        s->read_at = now;
    return s->read_at && now - s->read_at < LINGER;
}

static void configure(struct rtp_intake *r, int64_t ticks)
{
    if (!r->audio->configured)
        push(r, audio_aac_config, AUDIO_AAC_CONFIG, true, ticks);
    r->audio->configured = true;
}

/* ---- called by the files rtp*.c */

bool rtp_intake_audio_open(struct rtp_intake *r, struct intake_track *t)
{
    err_t err;

    if (t->codec != AV_OPUS || !r->opts.transcoders || r->audio)
        return false;
    r->audio = must(calloc(1, sizeof(*r->audio)));
    t->as = AV_AAC;
    t->channels = AUDIO_CHANNELS;
    t->described = true;
    err = av_info_parse(&t->info, AV_AAC, audio_aac_config, AUDIO_AAC_CONFIG);
    err_free(&err);
    return true;
}

void rtp_intake_audio_key(struct rtp_intake *r, int64_t ticks)
{
    if (!r->audio)
        return;
    r->audio->has_key = true;
    r->audio->key = ticks;
}

void rtp_intake_audio_put(struct rtp_intake *r, const struct rtp_frame *f, int64_t ticks,
                          co_usec now)
{
    const struct audio_in in = { .codec = AV_OPUS, .time = ticks, .data = f->data,
                                 .size = f->size };
    struct intake_audio *s = r->audio;

    configure(r, ticks);
    if (!is_wanted(r, now)) {
        rtp_intake_audio_stop(r);
        keep(r, &in);
        return;
    }
    if (!s->transcoder)
        open_transcoder(r);
    if (s->transcoder)
        transcoder_put(s->transcoder, &in);
}

void rtp_intake_audio_stop(struct rtp_intake *r)
{
    transcoder_close(r->audio->transcoder);
    r->audio->transcoder = NULL;
}

void rtp_intake_audio_free(struct rtp_intake *r)
{
    if (!r->audio)
        return;
    rtp_intake_audio_stop(r);
    while (r->audio->n > 0)
        forget_first(r->audio);
    free(r->audio);
    r->audio = NULL;
}
