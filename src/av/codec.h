/* SPDX-License-Identifier: MIT */
/* codec.h - the codec table: every codec has one row, in the file of that codec, and code asks the
 * row. To add a codec: a line in AV_CODEC_LIST, a file with its row, and a row in each container
 * that takes it (format/mp4/stsd.c, format/ts/codecs.c and demux_types.c, format/rtp/formats.c). */
#ifndef AV_CODEC_H
#define AV_CODEC_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum av_kind { AV_VIDEO, AV_AUDIO, AV_DATA, AV_KINDS };

/* AV_H264 has the row h264_codec, and so on. */
#define AV_CODEC_LIST(X)                                                                     \
    X(H264, h264) X(H265, h265) X(AV1, av1) X(VP9, vp9) X(VP8, vp8)                          \
    X(AAC, aac) X(MP3, mp3) X(OPUS, opus) X(FLAC, flac) X(AC3, ac3) X(EAC3, eac3)            \
    X(SPEEX, speex) X(G711A, g711a) X(G711U, g711u)

enum av_codec {
    AV_CODEC_NONE, /* not known: passed through */
#define X(codec, row) AV_##codec,
    AV_CODEC_LIST(X)
#undef X
    AV_CODECS
};

/* What a decoder configuration says. 0, 0.0 or "" is what it does not say. */
struct av_info {
    char profile[24];     /* as operators read it: "High", "Main 10", "LC" */
    char level[8];        /* "3.1" */
    uint32_t width, height; /* pixels to show: cropping is taken off */
    double fps;
    uint32_t sample_rate; /* Hz, of what comes out of the decoder */
    uint32_t coded_rate;  /* Hz, as the coder counts samples: before SBR doubles it */
    uint32_t channels;
    uint32_t nalu_length; /* bytes of the length before each NAL unit: 1, 2 or 4 */
    uint32_t reorder;     /* pictures that a decoder holds back, to show them in their order */
    bool interlaced;      /* pictures may be fields */
};

/* How FLV and RTMP carry it. The legacy tag header has a codec id, [FLV] E.4.2.1 and E.4.3.1; the
 * enhanced one a FourCC, [ERTMP] "Enhanced audio" and "Enhanced video". We read both. */
struct av_codec_flv {
    uint8_t ids[2];    /* of the legacy header; 0: has none; the first is what we write */
    char fourcc[2][5]; /* of the enhanced one; "" where there is none; likewise */
    bool legacy;       /* we write the legacy header; ids of others are of before [ERTMP] */
    bool packet_type;  /* its legacy header has one, so a configuration can be sent with it */
    bool cts;          /* frames may be shown in another order: with a composition time */
    uint8_t sound;     /* the lower half of the first legacy byte: rate, size and channels */
};

/* How RTP names it, RFC 3551 section 6 and the media types of RFC 4855; what payloads are made of
 * is in format/rtp. */
struct av_codec_rtp {
    const char *names[2]; /* of its encoding, in any case; the first is what we write; NULL: none */
    uint32_t clock;       /* ticks per second; 0: the rate of its coder */
    uint8_t channels;     /* that are always said; 0: as many as there are */
    bool fixed;           /* it has a payload type of its own, at that clock and one channel */
    uint8_t type;         /* that one */
};

struct av_codec_row {
    const char *name; /* in the API and the log */
    enum av_kind kind;
    struct av_codec_flv flv;
    struct av_codec_rtp rtp;
    /* Parse a decoder configuration; NULL: the codec has none, or we do not read it. */
    err_t (*parse)(struct av_info *info, const uint8_t *config, size_t size);
    /* What lists call it, RFC 6381: "avc1.64001f". `config` is one that parse() took. NULL: it is
     * in no list. */
    void (*list_name)(char *out, size_t room, const uint8_t *config, size_t size);
    /* How many samples a frame of sound has, 0: not known. Sets *rate, Hz, if the frame says it. */
    uint32_t (*samples)(const uint8_t *frame, size_t size, uint32_t *rate);
    /* So many bytes at the begin of each frame are what parse() takes, in place of a configuration
     * of its own. 0: there is one, or nothing is known. */
    uint8_t frame_config;
    /* The size of the picture, which is in key frames and not in the configuration. False: no key
     * frame, or broken. NULL: the configuration has it. */
    bool (*key_size)(const uint8_t *frame, size_t size, uint32_t *width, uint32_t *height);
    const struct nalu_codec *nalu; /* it is made of NAL units (av/nalu.h), or NULL */
};

#define X(codec, row) extern const struct av_codec_row row##_codec;
AV_CODEC_LIST(X)
#undef X

/* Never NULL: the row of AV_CODEC_NONE is named "unknown" and has no ids. */
const struct av_codec_row *av_codec_row(enum av_codec codec);
static inline const char *av_codec_name(enum av_codec codec) { return av_codec_row(codec)->name; }

/* AV_CODEC_NONE if no codec of that kind has it. fourcc has 4 bytes. */
enum av_codec av_codec_of_fourcc(enum av_kind kind, const uint8_t *fourcc);
enum av_codec av_codec_of_flv(enum av_kind kind, unsigned id);

/* Do its frames say something that is in the configuration of others? */
bool av_codec_frames_configure(enum av_codec codec);
/* How many samples the coded frame has; 0: not known. *rate stays where the frame says none. */
uint32_t av_codec_samples(enum av_codec codec, const uint8_t *frame, size_t size, uint32_t *rate);
/* What lists call it, "" where they have no name for it; returns out. */
const char *av_codec_list_name(enum av_codec codec, const uint8_t *config, size_t size, char *out,
                               size_t room);

/* Parse the configuration of any codec: info is cleared first. Codecs without a parser give no
 * error and tell nothing. An error says that we cannot read it; players still get the bytes. */
err_t av_info_parse(struct av_info *info, enum av_codec codec, const uint8_t *config, size_t size)
    __attribute__((warn_unused_result));

#endif
