/* SPDX-License-Identifier: MIT */
/* pack.h - packs frames into RTP payloads.
 *
 * Frames and configurations come in decoding order, like in the packet log. Payloads are written
 * one after another, each with space before it for the caller's headers:
 *
 *     $ ch len | RTP header | payload | $ ch len | RTP header | payload | ...
 *
 * Each byte is copied once, into the writer. Memory is allocated only for configurations and, if
 * enabled, for audio that waits to share a packet. Fragments of a frame have the same size, except
 * a smaller last one.
 */
#ifndef FORMAT_RTP_PACK_H
#define FORMAT_RTP_PACK_H

#include "base/wr.h"
#include "format/audio_clock.h"
#include "format/frame.h"
#include "format/rtp/formats.h"

enum { RTP_MTU_MIN = 64, RTP_MTU_MAX = 65000, RTP_SHARED_MAX = 32 };

/* The destination of packets. */
struct rtp_sink {
    struct wr *out;
    size_t head; /* bytes before each payload */
    /* Fills in these bytes for a payload of `size` bytes. `ticks` is in the packer's clock. */
    void (*packet)(struct rtp_sink *s, uint8_t *head, size_t size, bool marker, int64_t ticks);
};

struct rtp_packer_opts {
    enum av_codec codec;
    size_t mtu;   /* largest payload, bytes, RTP_MTU_MIN to RTP_MTU_MAX */
    bool sets;    /* send parameter sets before each key frame that has none */
    int64_t span; /* 1/90000 s that audio may wait to share a packet; 0: no sharing */
    bool no_sei, no_end; /* omit SEI units, and end-of-sequence units, of H.264 and HEVC */
    bool share;   /* small slices share a packet, like other small units */
};

struct rtp_packer {
    struct rtp_packer_opts opts;
    const struct rtp_format *fmt;
    uint32_t clock;       /* ticks per second; 0: unknown until a configuration or a frame */
    /* private */
    struct rtp_sink *sink;
    int64_t ticks;        /* time of the current packets */
    unsigned nalu_length;
    struct wr before_key; /* bytes before key frames */
    struct audio_clock count;
    uint16_t picture;     /* VP9 */
    struct wr waiting;    /* access units of AAC that share a packet */
    uint16_t sizes[RTP_SHARED_MAX];
    unsigned n;
    int64_t waiting_since, waiting_until; /* ticks */
};

/* False: the codec is not supported in RTP; do not use the packer then. */
bool rtp_packer_init(struct rtp_packer *p, const struct rtp_packer_opts *opts);
void rtp_packer_fini(struct rtp_packer *p);

/* Appends the packets of the frame, after packets that waited; a configuration has none. If the
 * writer is full (out->bad), the rest is missing. ERR_CODEC: the frame is malformed, or precedes
 * its configuration; nothing is written. The packer can be used after both. */
err_t rtp_pack(struct rtp_packer *p, const struct frame *f, struct rtp_sink *sink)
    __attribute__((warn_unused_result));

#endif
