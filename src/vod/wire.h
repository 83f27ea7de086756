/* SPDX-License-Identifier: MIT */
/* wire.h - what a format makes of samples of a file: a wire without a log.
 *
 * Bytes are a function of the file, the samples, the parameters and the numbers that they begin
 * with, so all who play the same part share them.
 */
#ifndef VOD_WIRE_H
#define VOD_WIRE_H

#include "av/packet.h"
#include "base/wr.h"
#include "format/demux/demux.h"
#include "live/wire.h"

/* Counters of RTP that go on from part to part. All 0 for other wires. */
struct vod_numbers {
    int64_t reported;             /* when there were sender reports last, 1/90000 s of the file */
    struct {
        uint16_t seq;             /* of the next packet */
        uint32_t packets, bytes;  /* so far, as a sender report has them */
    } tracks[DEMUX_TRACKS];
};

enum { VOD_TRACKS_VIDEO = 1 << DEMUX_VIDEO, VOD_TRACKS_AUDIO = 1 << DEMUX_AUDIO };

struct vod_wire;

/* How somebody plays a file: all who do it alike share parts. Compared as a whole. */
struct vod_wire_use {
    const struct vod_wire *wire;
    uint32_t tracks;              /* VOD_TRACKS_*: which samples it is given at all */
    bool keys_only;               /* of video only key frames, and no sound */
    uint32_t round;               /* of a loop, from 0: times are later by so many durations, for
                                   * wires whose bytes have them */
    uint32_t param[LIVE_PARAMS];  /* the wire's own */
    int64_t wall;                 /* the wall clock that belongs to the file's time 0, microseconds
                                   * since 1970: when it was opened */
};

struct vod_wire {
    const char *name; /* "rtp", "flv" */
    /* Begin a part, in memory of the wire's; `use` stays until close(). `starts`: a player may
     * begin here. */
    void *(*open)(const struct vod_wire_use *use, const struct demux_info *info, bool starts,
                  const struct vod_numbers *from);
    /* Append the packet's bytes. */
    void (*make)(void *state, const struct av_packet *pkt, struct wr *out);
    void (*close)(void *state, struct vod_numbers *to);
    const struct live_format *format; /* that makes the bytes; NULL: the wire itself does */
};

#endif
