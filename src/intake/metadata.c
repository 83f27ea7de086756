/* SPDX-License-Identifier: MIT */
/* metadata.c - onMetaData of a stream whose publisher brings none. */
#include "intake/metadata.h"

#include "format/flv/flv.h"
#include "proto/rtmp/amf0.h"

#include <string.h>

enum { METADATA_MAX = 4096, SAMPLE_BITS = 16 };

static void put_video(struct wr *w, const struct intake_medium *m)
{
    if (m->info->width > 0) {
        amf0_set_number(w, "width", m->info->width);
        amf0_set_number(w, "height", m->info->height);
    }
    if (m->info->fps > 0)
        amf0_set_number(w, "framerate", m->info->fps);
    amf0_set_number(w, "videocodecid", flv_codec_number(m->codec));
}

static void put_audio(struct wr *w, const struct intake_medium *m)
{
    unsigned rate = m->info->sample_rate > 0 ? m->info->sample_rate : m->rate;
    unsigned channels = m->info->channels > 0 ? m->info->channels : m->channels;

    if (rate > 0)
        amf0_set_number(w, "audiosamplerate", rate);
    amf0_set_number(w, "audiosamplesize", SAMPLE_BITS);
    amf0_set_boolean(w, "stereo", channels > 1);
    if (channels > 0)
        amf0_set_number(w, "audiochannels", channels);
    amf0_set_number(w, "audiocodecid", flv_codec_number(m->codec));
}

static struct av_packet *packet_of(const struct wr *w)
{
    struct av_packet *pkt = w->bad ? NULL : av_packet_try(w->len);

    if (!pkt)
        return NULL;
    memcpy(pkt->data, w->buf, w->len);
    pkt->origin = FLV_DATA;
    pkt->kind = AV_DATA;
    pkt->config = true;
    return pkt;
}

struct av_packet *intake_metadata(const struct intake_medium *media, unsigned n,
                                   const char *server)
{
    struct av_packet *pkt;
    struct wr w;

    wr_init(&w, METADATA_MAX);
    amf0_string(&w, "onMetaData");
    amf0_ecma_begin(&w, 0); /* how many is a hint that nobody takes */
    for (unsigned i = 0; i < n; i++) {
        if (media[i].codec == AV_CODEC_NONE)
            continue;
        if (media[i].kind == AV_VIDEO)
            put_video(&w, &media[i]);
        else
            put_audio(&w, &media[i]);
    }
    if (server)
        amf0_set_string(&w, "server", server);
    amf0_end(&w);
    pkt = packet_of(&w);
    wr_free(&w);
    return pkt;
}
