/* SPDX-License-Identifier: MIT */
/* pack.h - frames to payloads of RTP.
 *
 * Frames come in decoding order, as the log has them, configurations among them. Payloads go behind
 * each other into a writer, each with room in front of it for whatever headers its user has:
 *
 *     $ ch len | RTP header | payload | $ ch len | RTP header | payload | ...
 *
 * Nothing is copied but to there, and no memory is taken but for configurations and, if asked for,
 * sound that waits to share a packet. Fragments of a frame have the same size, the last one less.
 */
#ifndef FORMAT_RTP_PACK_H
#define FORMAT_RTP_PACK_H

#include "base/wr.h"
#include "format/audio_clock.h"
#include "format/frame.h"
#include "format/rtp/formats.h"

enum { RTP_MTU_MIN = 64, RTP_MTU_MAX = 65000, RTP_SHARED_MAX = 32 };

/* Where packets go. */
struct rtp_sink {
    struct wr *out;
    size_t head; /* bytes in front of each payload */
    /* Fill them: the payload will have `size` bytes. `ticks` is of the packer's clock. */
    void (*packet)(struct rtp_sink *s, uint8_t *head, size_t size, bool marker, int64_t ticks);
};

struct rtp_packer_opts {
    enum av_codec codec;
    size_t mtu;   /* bytes of a payload at most, RTP_MTU_MIN to RTP_MTU_MAX */
    bool sets;    /* parameter sets go in front of each key frame that has none */
    int64_t span; /* 1/90000 s that sound may wait to share a packet; 0: a packet each */
    bool no_sei, no_end; /* such units of H.264 and HEVC are left out: ends of sequences, too */
    bool share;   /* small slices of them share a packet, as other small units do */
};

struct rtp_packer {
    struct rtp_packer_opts opts;
    const struct rtp_format *fmt;
    uint32_t clock;       /* ticks per second; 0: not known before a configuration or a frame */
    /* the rest is ours */
    struct rtp_sink *sink;
    int64_t ticks;        /* of what is written */
    unsigned nalu_length;
    struct wr before_key; /* what goes in front of key frames */
    struct audio_clock count;
    uint16_t picture;     /* VP9 */
    struct wr waiting;    /* access units of AAC that share a packet */
    uint16_t sizes[RTP_SHARED_MAX];
    unsigned n;
    int64_t waiting_since, waiting_until; /* ticks */
};

/* False: RTP carries no such codec, or we cannot; the packer is good for nothing then. */
bool rtp_packer_init(struct rtp_packer *p, const struct rtp_packer_opts *opts);
void rtp_packer_fini(struct rtp_packer *p);

/* Append the packets that the frame makes: none for a configuration, and those that waited before
 * it. Where the writer is full (out->bad) the rest is missing. ERR_CODEC: the frame is broken, or
 * came before its configuration, and nothing was written. The packer goes on after both. */
err_t rtp_pack(struct rtp_packer *p, const struct frame *f, struct rtp_sink *sink)
    __attribute__((warn_unused_result));

#endif
