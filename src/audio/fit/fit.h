/* SPDX-License-Identifier: MIT */
/* fit.h - functions of the audio libraries; private to audio/fit.
 *
 * The libraries' headers declare the functions, the loader finds them: fit()->avcodec_open2(...).
 * The server's own av_ functions are different ones, so do not include av/packet.h together with
 * this file.
 */
#ifndef AUDIO_FIT_FIT_H
#define AUDIO_FIT_FIT_H

#include "audio/lib.h"

#include <libavcodec/avcodec.h>
#include <libavutil/channel_layout.h>
#include <libavutil/frame.h>
#include <libavutil/log.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <opus/opus.h>

#define FIT_AVUTIL(X)                                                                        \
    X(av_channel_layout_default) X(av_frame_alloc) X(av_frame_free) X(av_frame_unref)        \
    X(av_log_set_level) X(av_mallocz) X(av_opt_set)
#define FIT_AVCODEC(X)                                                                       \
    X(av_packet_alloc) X(av_packet_free) X(av_packet_unref) X(avcodec_alloc_context3)        \
    X(avcodec_find_decoder) X(avcodec_find_encoder) X(avcodec_free_context) X(avcodec_open2) \
    X(avcodec_receive_frame) X(avcodec_receive_packet) X(avcodec_send_frame)                 \
    X(avcodec_send_packet)
#define FIT_SWRESAMPLE(X)                                                                    \
    X(swr_alloc_set_opts2) X(swr_convert) X(swr_free) X(swr_init)
#define FIT_OPUS(X)                                                                          \
    X(opus_decode_float) X(opus_decoder_create) X(opus_decoder_destroy) X(opus_encode_float) \
    X(opus_encoder_create) X(opus_encoder_ctl) X(opus_encoder_destroy)

struct fit {
#define X(name) __typeof__(&name) name;
    FIT_AVUTIL(X) FIT_AVCODEC(X) FIT_SWRESAMPLE(X) FIT_OPUS(X)
#undef X
};

/* Returns NULL if the libraries are not loaded. */
const struct fit *fit(void);

/* The decoders of libavcodec and libopus. */
struct fit_av;
struct fit_av *fit_av_new(enum AVCodecID id, const uint8_t *config, size_t size); /* or NULL */
void fit_av_free(struct fit_av *d);
int fit_av_decode(struct fit_av *d, const uint8_t *data, size_t size, float *out, int room);

#endif
