/* SPDX-License-Identifier: MIT */
/* rtp_impl.h - the insides of a wire of RTP, shared by its files alone. */
#ifndef WIRE_RTP_IMPL_H
#define WIRE_RTP_IMPL_H

#include "wire/rtp_sender.h"

/* The wall clock of a stream's times. It is taken once and goes on with the stream, so players see
 * no jitter in it; it follows where the two drift apart, and never goes back. */
struct rtp_wire_wall {
    bool known;
    int64_t zero;  /* of the stream's time 0, microseconds since 1970 */
    int64_t moment; /* the last one asked for, microseconds of the stream */
    int64_t behind; /* it is behind by far since that moment; -1: it is not */
};

/* When was that moment, 1/90000 s of the stream, that came at `came`, microseconds since 1970? */
int64_t rtp_wire_wall_at(struct rtp_wire_wall *w, int64_t moment, int64_t came);

struct rtp_wire_state {
    struct rtp_wire_sender tracks[RTP_WIRE_N];
    const struct live_source *src;
    uint32_t mtu;
    char cname[RTP_WIRE_CNAME];
    struct rtp_wire_wall wall;
    bool parted;       /* what players were told of a track holds no more */
    bool reported;
    int64_t reported_at;  /* the stream's time */
    uint64_t broken, broken_told; /* frames that were left out */
};

/* The packer of that codec, if it has another one or none. False: RTP does not carry it. */
bool rtp_wire_open_track(struct rtp_wire_state *s, struct rtp_wire_sender *t, enum av_codec codec);
/* Reports of all tracks in front of a frame, of the moment when that is shown: GStreamer has no use
 * for a first report of a time before its first packet's. */
void rtp_wire_report(struct rtp_wire_state *s, int64_t dts, int64_t pts, struct wr *out);
/* The same, that they all end: who knows them by an older description asks for another one. */
void rtp_wire_bye(const struct rtp_wire_state *s, struct wr *out);

#endif
