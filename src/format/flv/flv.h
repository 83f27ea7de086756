/* SPDX-License-Identifier: MIT */
/* flv.h - FLV tags, whose bodies are RTMP's audio, video and data messages: no I/O.
 *
 * [FLV] Adobe Flash Video File Format Specification 10.1, annex E.
 * [ERTMP] Enhanced RTMP, version 2; version 1 is a part of it.
 *
 * Unknown codecs and packet types are not errors: their codec is AV_CODEC_NONE, and players get
 * their bytes unchanged. An error means that a body is truncated.
 */
#ifndef FORMAT_FLV_FLV_H
#define FORMAT_FLV_FLV_H

#include "av/packet.h"
#include "base/err.h"
#include "base/rd.h"

enum {
    FLV_FILE_HEADER = 9,  /* [FLV] E.2 */
    FLV_TAG_HEADER = 11,  /* [FLV] E.4.1 */
    FLV_TAG_TRAILER = 4,  /* PreviousTagSize, one after the file header too */
};

enum flv_type { FLV_AUDIO = 8, FLV_VIDEO = 9, FLV_DATA_AMF3 = 15, FLV_DATA = 18 };

struct flv_tag {
    uint8_t type;  /* enum flv_type, or what the file has */
    uint32_t size; /* size of the body, < 2^24 */
    uint32_t time; /* milliseconds */
};

enum flv_frame { /* [FLV] E.4.3.1, the upper four bits, three in [ERTMP] */
    FLV_FRAME_KEY = 1, FLV_FRAME_INTER, FLV_FRAME_DISPOSABLE, FLV_FRAME_GENERATED_KEY,
    FLV_FRAME_COMMAND,
};

enum flv_packet { /* kind of the body; the numbers are those of [ERTMP] */
    FLV_PACKET_CONFIG = 0,   /* SequenceStart */
    FLV_PACKET_CODED = 1,    /* CodedFrames */
    FLV_PACKET_END = 2,      /* SequenceEnd */
    FLV_PACKET_CODED_X = 3,  /* CodedFramesX: cts is 0 and not sent */
    FLV_PACKET_META = 4,     /* colorInfo and such, MultichannelConfig, and all we do not know */
    FLV_PACKET_TS_CONFIG = 5, /* MPEG2TSSequenceStart */
    FLV_PACKET_MULTITRACK_AUDIO = 5,
    FLV_PACKET_MULTITRACK = 6,
    FLV_PACKET_MODEX = 7,
    FLV_PACKET_COMMAND = 0x100, /* a video command: no media */
};

enum flv_multitrack { FLV_ONE_TRACK, FLV_MANY_TRACKS, FLV_MANY_CODECS, FLV_NO_MULTITRACK = 0xff };

/* Parsed header of an audio or video body. */
struct flv_body {
    enum av_kind kind;
    enum av_codec codec;      /* FLV_MANY_CODECS: the first track's */
    enum flv_packet packet;
    enum flv_multitrack multitrack;
    uint8_t frame;            /* enum flv_frame; 0 for audio */
    bool enhanced;
    bool config;              /* the payload is a decoder configuration */
    bool key;                 /* a key frame of video, not its configuration */
    bool extra;               /* a real FLV_PACKET_META, not an unknown packet type */
    uint16_t track;           /* AV_TRACK_MANY where there are several */
    int32_t cts;              /* milliseconds; the first track's */
    uint32_t nano;            /* to add to the presentation time, nanoseconds, < 10^6 */
    size_t payload;           /* offset of the codec's bytes; the size of the body if none */
    size_t tracks;            /* offset of the first track of FLV_MANY_TRACKS, FLV_MANY_CODECS */
};

/* One track of a multitrack body. */
struct flv_track {
    enum av_codec codec;
    uint8_t id;
    int32_t cts; /* milliseconds */
    size_t payload, size;
};

err_t flv_tag_parse(struct flv_tag *tag, struct rd *r) __attribute__((warn_unused_result));
void  flv_tag_build(uint8_t out[FLV_TAG_HEADER], const struct flv_tag *tag);
/* Checks the file header and skips it and the first PreviousTagSize. */
err_t flv_file_parse(struct rd *r) __attribute__((warn_unused_result));
void  flv_file_build(uint8_t out[FLV_FILE_HEADER + FLV_TAG_TRAILER], bool audio, bool video);

err_t flv_audio_parse(struct flv_body *b, const uint8_t *data, size_t size)
    __attribute__((warn_unused_result));
err_t flv_video_parse(struct flv_body *b, const uint8_t *data, size_t size)
    __attribute__((warn_unused_result));

/* Returns the next track of a parsed multitrack body. *at is 0 at first and private afterwards.
 * At the end t->size is 0 and *at is `size`. ERR_TRUNCATED: a track is longer than the body. */
err_t flv_track_next(struct flv_track *t, size_t *at, const struct flv_body *b,
                     const uint8_t *data, size_t size) __attribute__((warn_unused_result));

/* Sets kind, codec, config, key, cts, track and payload from origin and data; keeps dts. On an
 * error only the kind is valid. */
err_t flv_packet_describe(struct av_packet *pkt) __attribute__((warn_unused_result));

/* Number of a codec in the metadata: the id of its legacy header, or its FourCC as a number. */
double flv_codec_number(enum av_codec codec);

/* Body of a packet in FLV and RTMP: `head`, then `rest`, which points to the packet's bytes. A
 * packet with an origin has no head, and its rest is the received body. For other packets the head
 * is built. Do not copy: the struct contains pointers to itself. */
enum { FLV_HEAD_MAX = 10 };

struct flv_message {
    uint8_t type; /* enum flv_type; 0: FLV cannot carry the packet, skip it */
    uint8_t made[FLV_HEAD_MAX];
    uint32_t head_size, rest_size;
    const uint8_t *head, *rest;
};

void flv_message_build(struct flv_message *m, const struct av_packet *pkt);
/* Builds a tag of a file. Files have no AMF3 data: such a message is AMF0 after its first byte. */
void flv_message_build_tag(struct flv_message *m, const struct av_packet *pkt);
/* Adapts the message built from `pkt` for players without Opus: sets the type of Opus audio to 0
 * and removes "audiocodecid" from onMetaData. Returns false if the message is unchanged. */
bool flv_message_leave_out_opus(struct flv_message *m, const struct av_packet *pkt);
static inline uint32_t flv_message_size(const struct flv_message *m)
{
    return m->head_size + m->rest_size;
}

#endif
