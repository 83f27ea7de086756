/* SPDX-License-Identifier: MIT */
/* media.c - decoder configurations, packets and onMetaData of all intakes. */
#include "intake/media.h"

#include "base/log.h"
#include "format/flv/flv.h"
#include "proto/rtmp/amf0.h"

#include <string.h>

enum { METADATA_MAX = 4096, SAMPLE_BITS = 16 };

/* ---- decoder configurations */

enum intake_parsed intake_parse(struct av_info *info, enum av_codec codec, const uint8_t *config,
                                size_t size)
{
    struct av_info parsed;
    err_t err = av_info_parse(&parsed, codec, config, size);

    if (err) {
        log_end("unreadable decoder configuration, passed to players unchanged", &err);
        return INTAKE_FAILED;
    }
    if (memcmp(&parsed, info, sizeof(parsed)) == 0)
        return INTAKE_SAME;
    *info = parsed;
    return INTAKE_CHANGED;
}

bool intake_parse_frame(struct av_info *info, enum av_codec codec, const uint8_t *data, size_t size)
{
    size_t want = av_codec_row(codec)->frame_config;

    return want > 0 && size >= want &&
           intake_parse(info, codec, data, want) == INTAKE_CHANGED;
}

void intake_log_config(unsigned *logged, enum av_kind kind, enum av_codec codec,
                       const struct av_info *info, size_t size)
{
    if ((*logged)++ >= INTAKE_LOGGED_MAX)
        return;
    if (kind == AV_VIDEO)
        log_trace("%zuB video sh, codec(%s, profile=%s, level=%s, %ux%u, %.1ffps)", size,
                  av_codec_name(codec), info->profile, info->level, info->width, info->height,
                  info->fps);
    else
        log_trace("%zuB audio sh, codec(%s, profile=%s, %uchannels, %uHZ)", size,
                  av_codec_name(codec), info->profile, info->channels, info->sample_rate);
}

/* ---- packets */

struct av_packet *intake_packet(struct live_source *src, enum av_kind kind, enum av_codec codec,
                                size_t size, bool config)
{
    struct bump *in = config ? NULL : live_source_packets(src);
    struct av_packet *pkt = av_packet_try_in(in, size);

    if (!pkt)
        return NULL;
    pkt->kind = (uint8_t)kind;
    pkt->codec = (uint8_t)codec;
    pkt->config = config;
    return pkt;
}

void intake_push(struct live_source *src, struct av_packet *pkt, int64_t ticks)
{
    live_source_push(src, pkt, ticks);
    (void)av_packet_unref(pkt);
}

/* ---- onMetaData */

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
    amf0_ecma_begin(&w, 0); /* the count is a hint that players ignore */
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
