/* SPDX-License-Identifier: MIT */
/* rtc_audio.c - converts audio that browsers cannot play (AAC, MP3) to Opus, once for all players
 * of the stream on this worker, and only while there are players. */
#include "wire/rtc_impl.h"

#include "audio/lib.h"

#include <stdlib.h>

/* Audio older than this is not sent to the first player: a burst of audio would be played later
 * than video, and browsers need ten seconds to correct that. */
#define OLD AV_MS(40)

static bool is_other(enum av_codec codec)
{
    return codec == AV_AAC || codec == AV_MP3;
}

bool rtc_audio_converts(const struct rtc_wire *w, enum av_codec codec)
{
    return is_other(codec) && w->set.transcoders && !audio_lib_lacks();
}

/* ---- output */

static void on_frame(void *arg, const struct audio_out *out)
{
    struct rtc_wire *w = arg;
    struct frame f = { .kind = AV_AUDIO, .codec = AV_OPUS, .dts = out->time, .pts = out->time,
                       .data = out->data, .size = out->size };

    if (wire_reading_on(&w->reading))
        rtc_wire_make(w, &f, co_now());
}

static void on_rest(void *arg)
{
    struct rtc_wire *w = arg;

    if (wire_reading_on(&w->reading) && w->set.on_packets)
        w->set.on_packets(w->set.arg);
}

/* ---- input */

static void open_transcoder(struct rtc_wire *w)
{
    const struct transcoder_opts opts = {
        .group = w->set.transcoders, .name = live_source_name(w->reading.src), .to = AV_OPUS,
        .bitrate = w->set.opus_bitrate, .on_frame = on_frame, .on_rest = on_rest, .arg = w,
    };

    w->transcoder = transcoder_open(&opts);
}

void rtc_audio_begin(struct rtc_wire *w)
{
    w->audio_begun = false;
}

void rtc_audio_end(struct rtc_wire *w)
{
    transcoder_close(w->transcoder);
    w->transcoder = NULL;
}

/* Returns true if the frame is too old: reading starts at an old key frame, from which only video
 * is sent. */
static bool is_old(struct rtc_wire *w, const struct frame *f, co_usec at)
{
    if (f->config || w->audio_begun)
        return false;
    w->audio_begun = av_from_us(co_now() - at) < OLD;
    return !w->audio_begun;
}

bool rtc_audio_put(struct rtc_wire *w, const struct frame *f, co_usec at)
{
    const struct audio_in in = { .codec = f->codec, .config = f->config, .time = f->pts,
                                 .data = f->data, .size = f->size };

    if (!is_other(f->codec)) {
        rtc_audio_end(w);
        return false;
    }
    if (!rtc_audio_converts(w, f->codec)) {
        if (w->set.transcoders)
            transcoder_lacks(live_source_name(w->reading.src),
                             "WebRTC players get no audio");
        return true;
    }
    if (is_old(w, f, at))
        return true;
    if (!w->transcoder)
        open_transcoder(w);
    if (w->transcoder)
        transcoder_put(w->transcoder, &in);
    return true;
}
