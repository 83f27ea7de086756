/* SPDX-License-Identifier: MIT */
/* unpack_impl.h - what the unpackers of the codecs share. */
#ifndef FORMAT_RTP_UNPACK_IMPL_H
#define FORMAT_RTP_UNPACK_IMPL_H

#include "format/nal.h"
#include "format/rtp/unpack.h"

/* How a format of video is put together. `p` is the payload. */
struct rtp_video {
    /* Surely the first packet of a frame, whatever was lost before it. */
    bool (*first)(const struct rtp_unpacker *u, const struct rtp_payload *p);
    /* Not the rest of a picture that ended before. */
    bool (*new_picture)(const struct rtp_unpacker *u, const struct rtp_payload *p);
    /* It has the time of the picture before it, but belongs to the next. */
    bool (*splits)(const struct rtp_unpacker *u, const struct rtp_payload *p);
    void (*take)(struct rtp_unpacker *u, const struct rtp_payload *p);
    /* All has come. False: it is not whole. Sets u->key, and the configuration if that changed. */
    bool (*close)(struct rtp_unpacker *u);
};

extern const struct rtp_video rtp_nal_video, rtp_av1_video, rtp_vp9_video;

/* One step: something of u->in, or all of it, then u->has_in is false. Sets u->ready and u->out
 * where a frame is whole. */
void rtp_video_unpack(struct rtp_unpacker *u);
void rtp_aac_unpack(struct rtp_unpacker *u);
void rtp_latm_unpack(struct rtp_unpacker *u);
void rtp_mp3_unpack(struct rtp_unpacker *u);
void rtp_raw_unpack(struct rtp_unpacker *u);

/* a=fmtp of tracks that come in. */
err_t rtp_h264_read(struct rtp_unpacker *u, const struct span *fmtp);
err_t rtp_h265_read(struct rtp_unpacker *u, const struct span *fmtp);
err_t rtp_aac_read(struct rtp_unpacker *u, const struct span *fmtp);
err_t rtp_latm_read(struct rtp_unpacker *u, const struct span *fmtp);
err_t rtp_opus_read(struct rtp_unpacker *u, const struct span *fmtp);
err_t rtp_g711_read(struct rtp_unpacker *u, const struct span *fmtp);

/* A configuration that may be the one that is there. */
void rtp_unpack_configure(struct rtp_unpacker *u, const void *config, size_t size);
/* A frame of sound is whole; `data` stays until the next step. */
void rtp_unpack_out(struct rtp_unpacker *u, int64_t ticks, const uint8_t *data, size_t size);

/* A set of parameters, with or without start codes in front. */
void rtp_nal_keep_set(struct rtp_unpacker *u, const uint8_t *unit, size_t size);
/* Make a configuration of them, if they changed. */
void rtp_nal_configuration(struct rtp_unpacker *u);

#endif
