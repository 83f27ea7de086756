/* SPDX-License-Identifier: MIT */
/* formats.h - payload formats: how RTP carries each codec, a row each.
 *
 * [H264] RFC 6184, [HEVC] RFC 7798, [AV1-RTP] "RTP Payload Format For AV1" 1.0, [VP9-RTP] RFC 9628,
 * [AAC] RFC 3640 in the mode AAC-hbr, [LATM] RFC 6416, [MP3] RFC 2250, [Opus] RFC 7587, [G711] RFC
 * 3551. Names and clocks are in the rows of the codecs (av/codec.h).
 */
#ifndef FORMAT_RTP_FORMATS_H
#define FORMAT_RTP_FORMATS_H

#include "av/codec.h"
#include "base/wr.h"

struct frame;
struct rtp_packer;
struct rtp_unpacker;
struct span;
struct rtp_video;
struct nal_kind;

struct rtp_format {
    enum av_codec codec;
    const char *alias; /* name of this encoding, if it differs from the codec's name */
    const struct nal_kind *nal;     /* for codecs with NAL units */
    const struct rtp_video *video; /* all packets of a frame have its time; a marker ends it */
    /* NULL: the server only reads this format. */
    err_t (*configure)(struct rtp_packer *p, const struct frame *f); /* or NULL */
    err_t (*pack)(struct rtp_packer *p, const struct frame *f);
    void (*flush)(struct rtp_packer *p);                             /* or NULL */
    void (*unpack)(struct rtp_unpacker *u);
    /* Reads the a=fmtp parameters of a received track. */
    err_t (*read)(struct rtp_unpacker *u, const struct span *fmtp);
    /* Writes the parameters of a sent track from its decoder configuration (size 0: none). May be
     * NULL. */
    void (*write)(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size);
};

/* Returns the format for sending a codec. NULL: there is none, or it is not supported. */
const struct rtp_format *rtp_format_of(enum av_codec codec);
/* Returns the format for receiving, by its name in a=rtpmap. NULL: not supported. */
const struct rtp_format *rtp_format_named(enum av_kind kind, const char *name, size_t size);
/* Returns the format for receiving without an a=rtpmap. NULL: the static payload type is not
 * supported. */
const struct rtp_format *rtp_format_fixed(uint8_t type);

/* Clock and channels of a sent track, for its a=rtpmap: "name/clock[/channels]". They come from the
 * configuration, or for codecs without one from the first frame. False: no such format, or the
 * values are unknown. channels 0: omitted. */
struct rtp_map {
    const char *name;
    uint32_t clock;
    unsigned channels;
    bool fixed;   /* it has a static payload type */
    uint8_t type; /* the static payload type */
};
bool rtp_map_of(struct rtp_map *m, enum av_codec codec, const uint8_t *config, size_t size);

/* Writes the a=fmtp without the payload type; nothing if there are no parameters. */
void rtp_fmtp_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size);

#endif
