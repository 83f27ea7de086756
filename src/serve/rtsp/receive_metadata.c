/* SPDX-License-Identifier: MIT */
/* receive_metadata.c - onMetaData of a stream that came without: [FLV] E.5, and [ERTMP] for codecs
 * that FLV has no number for. */
#include "format/flv/flv.h"
#include "proto/rtmp/amf0.h"
#include "serve/rtsp/receive_impl.h"

#include <string.h>

enum { METADATA_MAX = 4096, SAMPLE_BITS = 16 };

static void put_video(struct wr *w, const struct receive_track *t)
{
    if (t->info.width > 0) {
        amf0_set_number(w, "width", t->info.width);
        amf0_set_number(w, "height", t->info.height);
    }
    if (t->info.fps > 0)
        amf0_set_number(w, "framerate", t->info.fps);
    amf0_set_number(w, "videocodecid", flv_codec_number(t->codec));
}

static void put_audio(struct wr *w, const struct receive_track *t)
{
    const struct av_codec_row *row = av_codec_row(t->codec);
    double rate = t->info.sample_rate;
    unsigned channels = t->info.channels > 0 ? t->info.channels : t->channels;

    if (rate <= 0 && row->rtp.clock == 0) /* its clock counts samples */
        rate = t->unpack.clock;
    if (rate > 0)
        amf0_set_number(w, "audiosamplerate", rate);
    amf0_set_number(w, "audiosamplesize", SAMPLE_BITS);
    amf0_set_boolean(w, "stereo", channels > 1);
    if (channels > 0)
        amf0_set_number(w, "audiochannels", channels);
    amf0_set_number(w, "audiocodecid", flv_codec_number(t->codec));
}

struct av_packet *rtsp_receive_metadata(const struct rtsp_receive *r)
{
    struct av_packet *pkt = NULL;
    struct wr w;

    wr_init(&w, METADATA_MAX);
    amf0_string(&w, "onMetaData");
    amf0_ecma_begin(&w, 0); /* how many is a hint that nobody takes */
    for (unsigned i = 0; i < r->n_tracks; i++) {
        const struct receive_track *t = &r->tracks[i];

        if (t->open && t->kind == AV_VIDEO)
            put_video(&w, t);
        else if (t->open)
            put_audio(&w, t);
    }
    if (r->opts.signature)
        amf0_set_string(&w, "server", r->opts.signature);
    amf0_end(&w);
    if (!w.bad)
        pkt = av_packet_try(w.len);
    if (pkt) {
        memcpy(pkt->data, w.buf, w.len);
        pkt->origin = FLV_DATA;
        pkt->kind = AV_DATA;
        pkt->config = true;
    }
    wr_free(&w);
    return pkt;
}
