/* SPDX-License-Identifier: MIT */
/* rtp_sender.h - a track as interleaved RTP: its packer, numbers and reports. Used by the wires of
 * live streams and of files. */
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
    bool wanted;       /* wanted by the players of this wire */
    bool chosen, open; /* has a track of the stream; and a packer for its codec */
    bool reported;     /* a report with its clock was sent */
    uint16_t id;       /* track number in the stream */
    int64_t seen;      /* time of its last frame */
    /* size and first bytes of the AAC configuration, which only the description carries */
    uint64_t config;
};

/* Initializes it with the parameters of an RTP wire; sequence numbers begin at 0. */
void rtp_wire_sender_init(struct rtp_wire_sender *t, const uint32_t param[LIVE_PARAMS],
                          unsigned track);
/* Opens a packer for the codec instead of the current one. Returns false if RTP does not carry
 * it. */
bool rtp_wire_sender_open(struct rtp_wire_sender *t, enum av_codec codec, uint32_t mtu);
void rtp_wire_sender_close(struct rtp_wire_sender *t); /* does nothing if it has none */
/* Appends the packets of a frame. ERR_CODEC: the frame is broken and left out. */
err_t rtp_wire_sender_pack(struct rtp_wire_sender *t, const struct frame *f, struct wr *out)
    __attribute__((warn_unused_result));
/* Appends a report that `moment`, 1/90000 s of the stream, is at `unix_us`. */
void rtp_wire_sender_report(const struct rtp_wire_sender *t, const char *cname, int64_t moment,
                            int64_t unix_us, struct wr *out);
/* Appends a BYE. */
void rtp_wire_sender_bye(const struct rtp_wire_sender *t, const char *cname, struct wr *out);

#endif
