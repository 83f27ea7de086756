/* SPDX-License-Identifier: MIT */
/* pack_impl.h - common functions of the codecs' packers. */
#ifndef FORMAT_RTP_PACK_IMPL_H
#define FORMAT_RTP_PACK_IMPL_H

#include "format/rtp/pack.h"

/* Returns space for a payload of that size. NULL: the writer is full. */
uint8_t *rtp_pack_packet(struct rtp_packer *p, size_t size, bool marker);

/* Returns the size of all pieces except the last when `size` bytes are divided evenly into pieces
 * of at most `most` bytes. */
static inline size_t rtp_pack_even(size_t size, size_t most)
{
    size_t pieces = (size + most - 1) / most;

    return (size + pieces - 1) / pieces;
}

err_t rtp_nal_configure(struct rtp_packer *p, const struct frame *f);
err_t rtp_nal_pack(struct rtp_packer *p, const struct frame *f);
err_t rtp_av1_configure(struct rtp_packer *p, const struct frame *f);
err_t rtp_av1_pack(struct rtp_packer *p, const struct frame *f);
err_t rtp_vp9_pack(struct rtp_packer *p, const struct frame *f);
err_t rtp_aac_configure(struct rtp_packer *p, const struct frame *f);
err_t rtp_aac_pack(struct rtp_packer *p, const struct frame *f);
void rtp_aac_flush(struct rtp_packer *p);
err_t rtp_mp3_pack(struct rtp_packer *p, const struct frame *f);
err_t rtp_opus_pack(struct rtp_packer *p, const struct frame *f);
err_t rtp_g711_pack(struct rtp_packer *p, const struct frame *f);

/* Write the a=fmtp of sent tracks from their decoder configuration. */
void rtp_h264_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size);
void rtp_h265_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size);
void rtp_av1_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size);
void rtp_vp9_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size);
void rtp_aac_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size);
void rtp_opus_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size);

#endif
