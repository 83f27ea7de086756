/* SPDX-License-Identifier: MIT */
/* rtp_impl.h - the fields of an RTP wire, private to its files. */
#ifndef WIRE_RTP_IMPL_H
#define WIRE_RTP_IMPL_H

#include "wire/rtp_sender.h"

/* The wall clock time of a stream's times. It is taken once and then follows the stream, so players
 * see no jitter in it. It is corrected when the two drift apart, and never goes back. */
struct rtp_wire_wall {
    bool known;
    int64_t zero;  /* wall clock time of the stream's time 0, microseconds since 1970 */
    int64_t moment; /* the last requested moment, microseconds of the stream */
    int64_t behind; /* moment since which it is far behind; -1: it is not */
};

/* Returns the wall clock time of `moment`, 1/90000 s of the stream, of a packet that arrived at
 * `came`. Both wall clock times are microseconds since 1970. */
int64_t rtp_wire_wall_at(struct rtp_wire_wall *w, int64_t moment, int64_t came);

struct rtp_wire_state {
    struct rtp_wire_sender tracks[RTP_WIRE_N];
    const struct live_source *src;
    uint32_t mtu;
    char cname[RTP_WIRE_CNAME];
    struct rtp_wire_wall wall;
    bool parted;       /* the description that players have of a track is no longer right */
    bool reported;
    int64_t reported_at;  /* time of the last report, in the stream's time */
    /* frames left out because they are broken; and those already logged */
    uint64_t broken, broken_logged;
};

/* Opens a packer for the codec unless it is open already. Returns false if RTP does not carry the
 * codec. */
bool rtp_wire_open_track(struct rtp_wire_state *s, struct rtp_wire_sender *t, enum av_codec codec);
/* Appends reports of all tracks in front of a frame, with the time when it is shown: GStreamer
 * ignores a first report of a time before its first packet. */
void rtp_wire_report(struct rtp_wire_state *s, int64_t dts, int64_t pts, struct wr *out);
/* Appends reports with BYE for all tracks: players with an older description then request a new
 * one. */
void rtp_wire_bye(const struct rtp_wire_state *s, struct wr *out);

#endif
