/* SPDX-License-Identifier: MIT */
/* unpack.h - assembles frames from RTP payloads.
 *
 * Payloads must be in order, each with the number of packets lost before it. Frames have the format
 * of the packet log (av/packet.h): NAL units after 4-byte lengths, OBUs with sizes, raw audio
 * frames. An incomplete frame is dropped, and for video all frames up to the next key frame. A
 * codec configuration precedes the first frame that needs it.
 *
 *     rtp_unpack_put(&u, &payload);
 *     while (rtp_unpack_next(&u, &frame)) ...
 */
#ifndef FORMAT_RTP_UNPACK_H
#define FORMAT_RTP_UNPACK_H

#include "base/wr.h"
#include "format/nal_sets.h"
#include "format/rtp/formats.h"
#include "format/rtp/text.h"

enum { RTP_FRAME_MAX = 4 << 20, RTP_UNITS_MAX = 512, RTP_CONFIG_MAX = NAL_CONFIG_MAX };

/* A received payload; borrowed until rtp_unpack_next() returns false. */
struct rtp_payload {
    const uint8_t *data;
    size_t size;
    int64_t ticks;   /* its timestamp without wrap */
    bool marker;
    bool restart;    /* its time is unrelated to earlier ones */
    uint64_t lost;   /* packets that are missing right before it */
};

struct rtp_frame {
    bool config, key;
    int64_t ticks;   /* presentation time */
    const uint8_t *data; /* until the next call */
    size_t size;     /* > 0 */
};

struct rtp_unpack_stats { /* frames, except `odd` */
    uint64_t frames;
    uint64_t broken;   /* dropped: incomplete, or over a limit */
    uint64_t waiting;  /* dropped: no key frame or codec configuration yet */
    uint64_t odd;      /* units and packets of an unsupported type */
};

/* Parameters of the track from a=rtpmap and a=fmtp. */
struct rtp_unpacker_opts {
    const struct rtp_format *fmt;
    uint32_t clock;    /* ticks per second; 0: the usual one */
    unsigned channels; /* 0: not said */
    struct span fmtp;
    bool keep_broken;  /* keep frames between a loss and the next key frame */
};

/* Whether the marker bit reliably ends a frame. */
enum rtp_marks { RTP_MARKS_UNKNOWN, RTP_MARKS_TRUE, RTP_MARKS_FALSE };

struct rtp_unpacker {
    const struct rtp_format *fmt;
    uint32_t clock;
    unsigned channels;
    bool keep_broken;
    struct rtp_unpack_stats stats;
    /* private */
    struct rtp_payload in;
    bool has_in, ready, has_config, config_due;
    struct rtp_frame out;
    struct wr frame, config;
    int64_t ticks;          /* time of `frame` */

    /* video */
    enum rtp_marks marks;
    bool open, broken, picture, key, marked, need_key, skip, skip_marked, closed;
    int64_t skip_ticks, closed_ticks;
    unsigned units;
    bool piece;             /* the last unit has not ended yet */
    size_t piece_at;        /* its start */
    /* NAL units */
    struct nal_sets sets;
    bool has_sps, intra, start_codes;
    unsigned looked;
    /* VP9 */
    bool ended;

    /* audio */
    unsigned size_bits, index_bits, delta_bits, headers, headers_at;
    size_t header_bit, at;
    size_t whole;           /* size of the fragmented frame; 0: none */
    int64_t index;
    unsigned subframes;
};

/* ERR_UNSUPPORTED: an unsupported variant of the format; ERR_CODEC: invalid parameters. After an
 * error the unpacker needs no rtp_unpacker_fini(). */
err_t rtp_unpacker_init(struct rtp_unpacker *u, const struct rtp_unpacker_opts *opts)
    __attribute__((warn_unused_result));
void rtp_unpacker_fini(struct rtp_unpacker *u);

void rtp_unpack_put(struct rtp_unpacker *u, const struct rtp_payload *p);
bool rtp_unpack_next(struct rtp_unpacker *u, struct rtp_frame *f);

/* Returns true if the packet certainly starts a frame, regardless of losses before it. */
bool rtp_unpack_begins(const struct rtp_unpacker *u, const struct rtp_payload *p);

/* Returns the current codec configuration; NULL if unknown yet, or the codec has none. */
const uint8_t *rtp_unpack_config(const struct rtp_unpacker *u, size_t *size);

#endif
