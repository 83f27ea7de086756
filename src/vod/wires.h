/* SPDX-License-Identifier: MIT */
/* wires.h - files as FLV, RTMP and RTP, and what goes in front of them. */
#ifndef VOD_WIRES_H
#define VOD_WIRES_H

#include "base/wr.h"
#include "vod/feed.h"
#include "wire/rtp.h"

/* Parameters are those of the live wire of that kind: wire/flv.h, wire/rtmp.h, wire/rtp.h. */
extern const struct vod_wire vod_wire_flv, vod_wire_flv_ws, vod_wire_rtmp, vod_wire_rtp;

/* Append the bytes of a packet: of FLV or RTMP, whose live format makes them. */
void vod_wire_put(const struct vod_wire_use *use, const struct av_packet *pkt, int64_t dts,
                  struct wr *out);

/* Append what a player of FLV or RTMP gets before frames: metadata (duration, size, rate, codecs),
 * and the decoder configuration of the tracks in use, stamped with the time at which it begins,
 * 1/90000 s of the presentation. For a file of FLV, its head is the caller's. */
void vod_head_put(const struct vod_file *f, const struct vod_wire_use *use, int64_t time,
                  struct wr *out);

/* The onMetaData of these tracks, new and with one reference; for a file that is a `live`
 * stream it has no end. NULL: nothing. */
struct av_packet *vod_head_metadata(const struct demux_info *info, uint32_t tracks, bool live);

/* The decoder configuration of a track, likewise; NULL: it has none. */
struct av_packet *vod_head_config(const struct demux_track *t);

/* The RTP-Info of a feed: the numbers of the packets that come next, and the time of
 * vod_feed_position(). */
void vod_rtp_start(struct vod_feed *f, struct rtp_wire_start out[RTP_WIRE_N]);
/* The tracks of a file as they are described: pointers are the file's. */
void vod_rtp_tracks(const struct vod_file *f, struct rtp_wire_track out[RTP_WIRE_N]);

#endif
