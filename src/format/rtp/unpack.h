/* SPDX-License-Identifier: MIT */
/* unpack.h - payloads of RTP to frames.
 *
 * Payloads come in order, each with how many are missing in front of it. Frames go out as the log
 * has them (av/packet.h): units behind lengths of 4 bytes, OBUs with their sizes, raw frames of
 * sound. A frame that something is missing of is left out, and then of video all up to the next key
 * frame. Configurations go in front of the first frame that they are for.
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

/* A payload as it came; borrowed until rtp_unpack_next() has said no. */
struct rtp_payload {
    const uint8_t *data;
    size_t size;
    int64_t ticks;   /* its timestamp without wrap */
    bool marker;
    bool restart;    /* its time has nothing to do with those before */
    uint64_t lost;   /* packets that are missing right before it */
};

struct rtp_frame {
    bool config, key;
    int64_t ticks;   /* when it is shown */
    const uint8_t *data; /* until the next call */
    size_t size;     /* > 0 */
};

struct rtp_unpack_stats { /* frames, but for `odd` */
    uint64_t frames;
    uint64_t broken;   /* left out: something is missing of them, or they are over a limit */
    uint64_t waiting;  /* left out: no key frame, or no configuration yet */
    uint64_t odd;      /* units and packets of a kind that we do not read */
};

/* What a=rtpmap and a=fmtp say of the track. */
struct rtp_unpacker_opts {
    const struct rtp_format *fmt;
    uint32_t clock;    /* ticks per second; 0: the usual one */
    unsigned channels; /* 0: not said */
    struct span fmtp;
    bool keep_broken;  /* what follows a loss is taken before the next key frame, too */
};

/* When does a frame end: are markers to be trusted? */
enum rtp_marks { RTP_MARKS_UNKNOWN, RTP_MARKS_TRUE, RTP_MARKS_FALSE };

struct rtp_unpacker {
    const struct rtp_format *fmt;
    uint32_t clock;
    unsigned channels;
    bool keep_broken;
    struct rtp_unpack_stats stats;
    /* the rest is ours */
    struct rtp_payload in;
    bool has_in, ready, has_config, config_due;
    struct rtp_frame out;
    struct wr frame, config;
    int64_t ticks;          /* of `frame` */

    /* video */
    enum rtp_marks marks;
    bool open, broken, picture, key, marked, need_key, skip, skip_marked, closed;
    int64_t skip_ticks, closed_ticks;
    unsigned units;
    bool piece;             /* the last unit has not ended yet */
    size_t piece_at;        /* where it begins */
    /* NAL units */
    struct nal_sets sets;
    bool has_sps, intra, start_codes;
    unsigned looked;
    /* VP9 */
    bool ended;

    /* sound */
    unsigned size_bits, index_bits, delta_bits, headers, headers_at;
    size_t header_bit, at;
    size_t whole;           /* size of the frame of which pieces come; 0: none does */
    int64_t index;
    unsigned subframes;
};

/* ERR_UNSUPPORTED: a variant of the format that we do not read; ERR_CODEC: parameters that cannot
 * be right. The unpacker needs no rtp_unpacker_fini() then. */
err_t rtp_unpacker_init(struct rtp_unpacker *u, const struct rtp_unpacker_opts *opts)
    __attribute__((warn_unused_result));
void rtp_unpacker_fini(struct rtp_unpacker *u);

void rtp_unpack_put(struct rtp_unpacker *u, const struct rtp_payload *p);
bool rtp_unpack_next(struct rtp_unpacker *u, struct rtp_frame *f);

/* Surely the first packet of a picture, whatever is missing before it. */
bool rtp_unpack_begins(const struct rtp_unpacker *u, const struct rtp_payload *p);

/* The configuration as it is by now; NULL: not known yet, or the codec has none. */
const uint8_t *rtp_unpack_config(const struct rtp_unpacker *u, size_t *size);

#endif
