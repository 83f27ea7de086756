/* SPDX-License-Identifier: MIT */
/* rtp_sender.h - a track as interleaved RTP: its packer, its numbers, its reports. The wires of a
 * live stream and of a file are made of these. */
#ifndef WIRE_RTP_SENDER_H
#define WIRE_RTP_SENDER_H

#include "format/rtp/pack.h"
#include "proto/rtp/sender.h"
#include "wire/rtp.h"

struct rtp_wire_sender {
    struct rtp_sink sink;
    struct rtp_packer packer;
    struct rtp_sender sender;
    enum av_codec codec;
    uint8_t channel;
    bool wanted;       /* by the players of this wire */
    bool chosen, open; /* it has a track of the stream; and a packer for its codec */
    bool told;         /* a report has its clock */
    uint16_t id;       /* the track of the stream */
    int64_t seen;      /* when a frame of it came last */
    uint64_t config;   /* of AAC, which is in the description alone: size and first bytes */
};

/* By the parameters of a wire of RTP; sequence numbers begin at 0. */
void rtp_wire_sender_init(struct rtp_wire_sender *t, const uint32_t param[LIVE_PARAMS],
                          unsigned track);
/* A packer of that codec, in place of what it has. False: RTP does not carry it. */
bool rtp_wire_sender_open(struct rtp_wire_sender *t, enum av_codec codec, uint32_t mtu);
void rtp_wire_sender_close(struct rtp_wire_sender *t); /* fine if it has none */
/* Append the packets of a frame. ERR_CODEC: it is broken and left out. */
err_t rtp_wire_sender_pack(struct rtp_wire_sender *t, const struct frame *f, struct wr *out)
    __attribute__((warn_unused_result));
/* Append a report that `moment`, 1/90000 s of the stream, is at `unix_us`. */
void rtp_wire_sender_report(const struct rtp_wire_sender *t, const char *cname, int64_t moment,
                            int64_t unix_us, struct wr *out);
/* Append that it ends. */
void rtp_wire_sender_bye(const struct rtp_wire_sender *t, const char *cname, struct wr *out);

#endif
