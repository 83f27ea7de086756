/* SPDX-License-Identifier: MIT */
/* wire.h - how a format renders the samples of a file: a wire without a log.
 *
 * The bytes depend only on the file, the samples, the parameters and the first numbers, so all
 * players of the same part share them.
 */
#ifndef VOD_WIRE_H
#define VOD_WIRE_H

#include "av/packet.h"
#include "base/wr.h"
#include "format/demux/demux.h"
#include "live/wire.h"

/* RTP counters that continue from part to part. All 0 for other wires. */
struct vod_numbers {
    int64_t reported;             /* time of the last sender reports, 1/90000 s of the file */
    struct {
        uint16_t seq;             /* the next packet's */
        uint32_t packets, bytes;  /* sent so far, for sender reports */
    } tracks[DEMUX_TRACKS];
};

enum { VOD_TRACKS_VIDEO = 1 << DEMUX_VIDEO, VOD_TRACKS_AUDIO = 1 << DEMUX_AUDIO };

struct vod_wire;

/* How a player plays a file. Players with equal uses share parts; compared with memcmp(). */
struct vod_wire_use {
    const struct vod_wire *wire;
    uint32_t tracks;              /* VOD_TRACKS_*: the tracks to render */
    bool keys_only;               /* only key frames of video, no audio */
    uint32_t round; /* round of a loop, from 0: times are later by this many durations, for
                     * wires whose bytes contain times */
    uint32_t param[LIVE_PARAMS];  /* parameters of the wire */
    int64_t wall;                 /* wall clock of the file's time 0, microseconds since 1970: the
                                   * time when it was opened */
};

struct vod_wire {
    const char *name; /* "rtp", "flv" */
    /* Starts a part and allocates its state; `use` must stay valid until close(). `starts`: a
     * player may begin here. */
    void *(*open)(const struct vod_wire_use *use, const struct demux_info *info, bool starts,
                  const struct vod_numbers *from);
    /* Appends the bytes of the packet. */
    void (*make)(void *state, const struct av_packet *pkt, struct wr *out);
    void (*close)(void *state, struct vod_numbers *to);
    /* the live format that makes the bytes; NULL: the wire itself */
    const struct live_format *format;
};

#endif
