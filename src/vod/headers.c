/* SPDX-License-Identifier: MIT */
/* headers.c - the head of a file for FLV and RTMP players: onMetaData, [FLV] E.5, and decoder
 * configurations. */
#include "format/flv/flv.h"
#include "proto/rtmp/amf0.h"
#include "vod/feed_impl.h"
#include "vod/wires.h"

#include <string.h>

enum { METADATA_MAX = 4096, SAMPLE_BITS = 16 };

/* ---- packets in the form of the wire */

/* For an FLV file, the configuration tag as it was read, because its frames have the same form. */
struct av_packet *vod_head_config(const struct demux_track *t)
{
    struct av_packet *pkt;
    enum av_kind kind;
    err_t err;

    if (t->codec == AV_CODEC_NONE || t->config_size == 0)
        return NULL;
    kind = av_codec_row(t->codec)->kind;
    pkt = av_packet_new(t->config_head + t->config_size);
    memcpy(pkt->data, t->config - t->config_head, t->config_head + t->config_size);
    if (t->config_head > 0) {
        pkt->origin = kind == AV_VIDEO ? FLV_VIDEO : FLV_AUDIO;
        err = flv_packet_describe(pkt);
        err_free(&err); /* it was valid when the file was opened */
        return pkt;
    }
    pkt->kind = (uint8_t)kind;
    pkt->codec = (uint8_t)t->codec;
    pkt->config = true;
    return pkt;
}

static void put_config(const struct demux_track *t, const struct vod_wire_use *use, int64_t dts,
                       struct wr *out)
{
    struct av_packet *pkt = vod_head_config(t);

    if (!pkt)
        return;
    pkt->dts = dts;
    vod_wire_put(use, pkt, dts, out);
    av_packet_unref(pkt);
}

void vod_head_configs(const struct vod_file *f, const struct vod_wire_use *use, int64_t time,
                      struct wr *out)
{
    const struct demux_info *info = vod_file_info(f);

    for (unsigned i = 0; i < DEMUX_TRACKS; i++) {
        if (use->tracks >> i & 1)
            put_config(&info->tracks[i], use, time, out);
    }
}

/* ---- metadata */

static void put_video(struct wr *w, const struct demux_track *t, const struct av_info *av)
{
    if (av->width > 0) {
        amf0_set_number(w, "width", av->width);
        amf0_set_number(w, "height", av->height);
    }
    if (av->fps > 0)
        amf0_set_number(w, "framerate", av->fps);
    amf0_set_number(w, "videocodecid", flv_codec_number(t->codec));
}

static void put_audio(struct wr *w, const struct demux_track *t, const struct av_info *av)
{
    if (av->sample_rate > 0)
        amf0_set_number(w, "audiosamplerate", av->sample_rate);
    amf0_set_number(w, "audiosamplesize", SAMPLE_BITS);
    amf0_set_boolean(w, "stereo", av->channels > 1);
    if (av->channels > 0)
        amf0_set_number(w, "audiochannels", av->channels);
    amf0_set_number(w, "audiocodecid", flv_codec_number(t->codec));
}

static void put_track(struct wr *w, const struct demux_track *t)
{
    struct av_info av;
    err_t err = av_info_parse(&av, t->codec, t->config, t->config_size);

    err_free(&err); /* omit these fields */
    if (av_codec_row(t->codec)->kind == AV_VIDEO)
        put_video(w, t, &av);
    else
        put_audio(w, t, &av);
}

/* Only the bit rate of the whole file is known. It is reported as the video's, or as the audio's if
 * there is no video. */
static void put_members(const struct demux_info *info, uint32_t tracks, struct wr *w)
{
    bool video = false;

    for (unsigned i = 0; i < DEMUX_TRACKS; i++) {
        const struct demux_track *t = &info->tracks[i];

        if (!(tracks >> i & 1) || t->codec == AV_CODEC_NONE)
            continue;
        put_track(w, t);
        video |= i == DEMUX_VIDEO;
    }
    if (info->kbps > 0)
        amf0_set_number(w, video ? "videodatarate" : "audiodatarate", info->kbps);
}

struct av_packet *vod_head_metadata(const struct demux_info *info, uint32_t tracks, bool live)
{
    struct av_packet *pkt = NULL;
    struct wr w;

    wr_init(&w, METADATA_MAX);
    amf0_string(&w, "onMetaData");
    amf0_ecma_begin(&w, 0); /* the count is only a hint, and clients ignore it */
    if (!live)
        amf0_set_number(&w, "duration", (double)info->duration / AV_CLOCK);
    put_members(info, tracks, &w);
    amf0_end(&w);
    if (!w.bad) {
        pkt = av_packet_new(w.len);
        pkt->kind = AV_DATA;
        pkt->origin = FLV_DATA;
        pkt->config = true;
        memcpy(pkt->data, w.buf, w.len);
    }
    wr_free(&w);
    return pkt;
}

static void put_metadata(const struct demux_info *info, const struct vod_wire_use *use,
                         struct wr *out)
{
    struct av_packet *pkt = vod_head_metadata(info, use->tracks, false);

    if (pkt)
        vod_wire_put(use, pkt, 0, out); /* players expect it at time 0 */
    av_packet_unref(pkt);
}

void vod_head_put(const struct vod_file *f, const struct vod_wire_use *use, int64_t time,
                  struct wr *out)
{
    const struct demux_info *info = vod_file_info(f);

    put_metadata(info, use, out);
    vod_head_configs(f, use, time + info->zero, out);
}
