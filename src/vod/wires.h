/* SPDX-License-Identifier: MIT */
/* wires.h - files as FLV, RTMP and RTP, and their heads: metadata and configuration. */
#ifndef VOD_WIRES_H
#define VOD_WIRES_H

#include "base/wr.h"
#include "vod/feed.h"
#include "wire/rtp.h"

/* Parameters are those of the live wires: wire/flv.h, wire/rtmp.h, wire/rtp.h. */
extern const struct vod_wire vod_wire_flv, vod_wire_flv_ws, vod_wire_rtmp, vod_wire_rtp;

/* Appends the bytes of a packet. Only for FLV and RTMP, which a live format renders. */
void vod_wire_put(const struct vod_wire_use *use, const struct av_packet *pkt, int64_t dts,
                  struct wr *out);

/* Appends what an FLV or RTMP player gets before the frames: metadata (duration, size, rate,
 * codecs) and the decoder configuration of the tracks in use, with the timestamp of the start,
 * 1/90000 s of the presentation. The caller writes the header of an FLV file. */
void vod_head_put(const struct vod_file *f, const struct vod_wire_use *use, int64_t time,
                  struct wr *out);

/* Returns the onMetaData of these tracks, with one reference; without a duration if the file is
 * played as a `live` stream. NULL: no metadata. */
struct av_packet *vod_head_metadata(const struct demux_info *info, uint32_t tracks, bool live);

/* Returns the decoder configuration of a track, with one reference; NULL if it has none. */
struct av_packet *vod_head_config(const struct demux_track *t);

/* Gives the RTP-Info of a feed: the numbers of the next packets and the time of
 * vod_feed_position(). */
void vod_rtp_start(struct vod_feed *f, struct rtp_wire_start out[RTP_WIRE_N]);
/* Gives the tracks of a file for its SDP. Pointers belong to the file. */
void vod_rtp_tracks(const struct vod_file *f, struct rtp_wire_track out[RTP_WIRE_N]);

#endif
