/* SPDX-License-Identifier: MIT */
/* unpack_impl.h - common functions of the codecs' unpackers. */
#ifndef FORMAT_RTP_UNPACK_IMPL_H
#define FORMAT_RTP_UNPACK_IMPL_H

#include "format/nal.h"
#include "format/rtp/unpack.h"

/* How the frames of a video format are assembled. `p` is the payload. */
struct rtp_video {
    /* True if the packet certainly starts a frame, regardless of losses before it. */
    bool (*first)(const struct rtp_unpacker *u, const struct rtp_payload *p);
    /* True if the packet does not continue a frame that ended before. */
    bool (*new_picture)(const struct rtp_unpacker *u, const struct rtp_payload *p);
    /* True if the packet has the time of the previous frame but belongs to the next one. */
    bool (*splits)(const struct rtp_unpacker *u, const struct rtp_payload *p);
    void (*take)(struct rtp_unpacker *u, const struct rtp_payload *p);
    /* Ends a frame. False: it is incomplete. Sets u->key, and the configuration if it changed. */
    bool (*close)(struct rtp_unpacker *u);
};

extern const struct rtp_video rtp_nal_video, rtp_av1_video, rtp_vp9_video;

/* Process u->in up to one frame, or to its end, which clears u->has_in. Set u->ready and u->out for
 * a complete frame. */
void rtp_video_unpack(struct rtp_unpacker *u);
void rtp_aac_unpack(struct rtp_unpacker *u);
void rtp_latm_unpack(struct rtp_unpacker *u);
void rtp_mp3_unpack(struct rtp_unpacker *u);
void rtp_raw_unpack(struct rtp_unpacker *u);

/* Read the a=fmtp of received tracks. */
err_t rtp_h264_read(struct rtp_unpacker *u, const struct span *fmtp);
err_t rtp_h265_read(struct rtp_unpacker *u, const struct span *fmtp);
err_t rtp_aac_read(struct rtp_unpacker *u, const struct span *fmtp);
err_t rtp_latm_read(struct rtp_unpacker *u, const struct span *fmtp);
err_t rtp_opus_read(struct rtp_unpacker *u, const struct span *fmtp);
err_t rtp_g711_read(struct rtp_unpacker *u, const struct span *fmtp);

/* Sets the configuration, which may be unchanged. */
void rtp_unpack_configure(struct rtp_unpacker *u, const void *config, size_t size);
/* Outputs an audio frame; `data` must be valid until the next step. */
void rtp_unpack_out(struct rtp_unpacker *u, int64_t ticks, const uint8_t *data, size_t size);

/* Stores a parameter set, with or without a start code before it. */
void rtp_nal_keep_set(struct rtp_unpacker *u, const uint8_t *unit, size_t size);
/* Builds the configuration from the parameter sets, if they changed. */
void rtp_nal_configuration(struct rtp_unpacker *u);

#endif
