/* SPDX-License-Identifier: MIT */
/* codec.h - the codec table. Each codec has one row, in the file of that codec. To add a codec, add
 * a line to AV_CODEC_LIST, a file with its row, and a row in each container that carries it
 * (format/mp4/stsd.c, format/ts/codecs.c and demux_types.c, format/rtp/formats.c). */
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
    AV_CODEC_NONE, /* unknown: passed through */
#define X(codec, row) AV_##codec,
    AV_CODEC_LIST(X)
#undef X
    AV_CODECS
};

/* The content of a decoder configuration. 0, 0.0 or "" means unknown. */
struct av_info {
    char profile[24];     /* for operators: "High", "Main 10", "LC" */
    char level[8];        /* "3.1" */
    uint32_t width, height; /* pixels after cropping */
    double fps;
    uint32_t sample_rate; /* Hz, of the decoder's output */
    uint32_t coded_rate;  /* Hz, of coded samples: before SBR doubles it */
    uint32_t channels;
    uint32_t nalu_length; /* bytes of the length before each NAL unit: 1, 2 or 4 */
    uint32_t reorder;     /* frames that a decoder holds back to output them in order */
    bool interlaced;      /* frames may consist of fields */
};

/* How FLV and RTMP carry a codec. The legacy tag header has a codec id, [FLV] E.4.2.1 and E.4.3.1;
 * the enhanced one has a FourCC, [ERTMP] "Enhanced audio" and "Enhanced video". The server reads
 * both. */
struct av_codec_flv {
    uint8_t ids[2];    /* codec ids of the legacy header; 0: none; the first one is written */
    char fourcc[2][5]; /* FourCCs of the enhanced header; "": none; the first one is written */
    bool legacy;       /* the legacy header is written; the other ids are older than [ERTMP] */
    bool packet_type;  /* its legacy header has a packet type, so it can carry a configuration */
    bool cts;          /* has a composition time, because the order of output may differ */
    uint8_t sound;     /* the lower half of the first legacy byte: rate, size and channels */
};

/* How RTP names a codec, RFC 3551 section 6 and the media types of RFC 4855. Payload formats are in
 * format/rtp. */
struct av_codec_rtp {
    /* encoding names, case-insensitive; the first one is written; NULL: none */
    const char *names[2];
    uint32_t clock;       /* ticks per second; 0: the rate of its coder */
    uint8_t channels;     /* always written; 0: write the real number */
    bool fixed;           /* it has a static payload type, for that clock and one channel */
    uint8_t type;         /* the static payload type */
};

struct av_codec_row {
    const char *name; /* in the API and the log */
    enum av_kind kind;
    struct av_codec_flv flv;
    struct av_codec_rtp rtp;
    /* Parses a decoder configuration. NULL: the codec has none, or it is not parsed. */
    err_t (*parse)(struct av_info *info, const uint8_t *config, size_t size);
    /* Writes the name for playlists, RFC 6381: "avc1.64001f". parse() accepted `config`. NULL:
     * playlists have no name for it. */
    void (*list_name)(char *out, size_t room, const uint8_t *config, size_t size);
    /* Returns the number of samples of an audio frame, 0 if unknown. Sets *rate, in Hz, if the
     * frame contains it. */
    uint32_t (*samples)(const uint8_t *frame, size_t size, uint32_t *rate);
    /* parse() takes this many first bytes of any frame instead of a configuration. 0: the codec has
     * a configuration, or none is known. */
    uint8_t frame_config;
    /* Reads the frame size from a key frame. False: not a key frame, or malformed. NULL: the
     * configuration has the size. */
    bool (*key_size)(const uint8_t *frame, size_t size, uint32_t *width, uint32_t *height);
    const struct nalu_codec *nalu; /* for codecs with NAL units (av/nalu.h), or NULL */
};

#define X(codec, row) extern const struct av_codec_row row##_codec;
AV_CODEC_LIST(X)
#undef X

/* Never NULL: the row of AV_CODEC_NONE is named "unknown" and has no ids. */
const struct av_codec_row *av_codec_row(enum av_codec codec);
static inline const char *av_codec_name(enum av_codec codec) { return av_codec_row(codec)->name; }

/* Return AV_CODEC_NONE if no codec of that kind has it. fourcc has 4 bytes. */
enum av_codec av_codec_of_fourcc(enum av_kind kind, const uint8_t *fourcc);
enum av_codec av_codec_of_flv(enum av_kind kind, unsigned id);

/* True if frames of the codec contain values that other codecs have in their configuration. */
bool av_codec_frames_configure(enum av_codec codec);
/* Returns the number of samples of a coded frame; 0 if unknown. *rate is unchanged if the frame
 * does not contain it. */
uint32_t av_codec_samples(enum av_codec codec, const uint8_t *frame, size_t size, uint32_t *rate);
/* Writes the codec's name for playlists, "" if it has none; returns out. */
const char *av_codec_list_name(enum av_codec codec, const uint8_t *config, size_t size, char *out,
                               size_t room);

/* Parses the configuration of any codec; clears info first. A codec without a parser leaves info
 * empty and is no error. On an error, players still get the bytes. */
err_t av_info_parse(struct av_info *info, enum av_codec codec, const uint8_t *config, size_t size)
    __attribute__((warn_unused_result));

#endif
