/* SPDX-License-Identifier: MIT */
/* read.h - a=fmtp of tracks that come in, and of those that go out: a pair for each codec. */
#ifndef FORMAT_RTP_READ_H
#define FORMAT_RTP_READ_H

#include "format/rtp/unpack.h"

err_t rtp_h264_read(struct rtp_unpacker *u, const struct span *fmtp);
err_t rtp_h265_read(struct rtp_unpacker *u, const struct span *fmtp);

err_t rtp_aac_read(struct rtp_unpacker *u, const struct span *fmtp);
err_t rtp_latm_read(struct rtp_unpacker *u, const struct span *fmtp);
err_t rtp_opus_read(struct rtp_unpacker *u, const struct span *fmtp);
err_t rtp_g711_read(struct rtp_unpacker *u, const struct span *fmtp);

void rtp_h264_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size);
void rtp_h265_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size);
void rtp_av1_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size);
void rtp_vp9_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size);
void rtp_aac_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size);
void rtp_opus_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size);

#endif
