/* SPDX-License-Identifier: MIT */
/* rtc_audio.c - sound that browsers cannot play (AAC, MP3), as Opus: converted once for all who
 * play the stream here, and only while somebody does. */
#include "wire/rtc_impl.h"

#include "audio/lib.h"

#include <stdlib.h>

/* Nobody is sent what came so long before the first one who plays: sound that comes all at once is
 * played so much later than pictures, and browsers take ten seconds to put that right. */
#define OLD AV_MS(40)

static bool is_other(enum av_codec codec)
{
    return codec == AV_AAC || codec == AV_MP3;
}

bool rtc_audio_converts(const struct rtc_wire *w, enum av_codec codec)
{
    return is_other(codec) && w->set.transcoders && !audio_lib_lacks();
}

/* ---- what comes out */

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

/* ---- what goes in */

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

/* The reader begins at a key frame of long ago, and pictures alone are sent from there. */
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
