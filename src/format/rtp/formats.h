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
    const char *alias; /* what this encoding is called, if that is not the codec's own name */
    const struct nal_kind *nal;     /* it is made of NAL units */
    const struct rtp_video *video; /* packets of a frame have its time, and its last one a marker */
    /* NULL: it is read only. */
    err_t (*configure)(struct rtp_packer *p, const struct frame *f); /* or NULL */
    err_t (*pack)(struct rtp_packer *p, const struct frame *f);
    void (*flush)(struct rtp_packer *p);                             /* or NULL */
    void (*unpack)(struct rtp_unpacker *u);
    /* What SDP says of a track that comes in: its parameters. */
    err_t (*read)(struct rtp_unpacker *u, const struct span *fmtp);
    /* The same of one that goes out, by its decoder configuration (or nothing, size 0); or NULL. */
    void (*write)(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size);
};

/* How a codec goes out. NULL: there is no way, or none of ours. */
const struct rtp_format *rtp_format_of(enum av_codec codec);
/* What comes in, as a=rtpmap names it. NULL: we read no such. */
const struct rtp_format *rtp_format_named(enum av_kind kind, const char *name, size_t size);
/* What comes in without an a=rtpmap. NULL: none of ours has that payload type. */
const struct rtp_format *rtp_format_fixed(uint8_t type);

/* The clock and the channels of a track that goes out, for its a=rtpmap: "name/clock[/channels]".
 * The configuration as it is in packets, or for codecs without one the first frame. False: no such
 * format, or the configuration does not say. channels 0: nothing is said of them. */
struct rtp_map {
    const char *name;
    uint32_t clock;
    unsigned channels;
    bool fixed;   /* it has a payload type of its own */
    uint8_t type; /* that one */
};
bool rtp_map_of(struct rtp_map *m, enum av_codec codec, const uint8_t *config, size_t size);

/* Its a=fmtp, without the payload type; nothing where there is nothing to say. */
void rtp_fmtp_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size);

#endif
