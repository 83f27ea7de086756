/* SPDX-License-Identifier: MIT */
/* rtp.h - a live stream as interleaved RTP, packed once for all players of the same tracks.
 *
 *     $ ch len | RTP header | payload | $ ch len | ...
 *
 * Track 0 is video on channels 0 and 1, track 1 is audio on channels 2 and 3; other channels need
 * rtp_wire_on_channel(). If the stream has several tracks of a kind, the first one that RTP carries
 * is used. Frames are complete and in the order of the log. In front of each packet that a player
 * may start at, and every few seconds, there are sender reports of all tracks for the same moment,
 * each with its CNAME. So audio and video of a joining player are in sync from the start.
 *
 * SSRC, CNAME and timestamps belong to the stream, for all players and tracks: they follow from its
 * seed and the source's clock, and continue when the publisher changes. Sequence numbers belong to
 * the wire.
 */
#ifndef WIRE_RTP_H
#define WIRE_RTP_H

#include "av/codec.h"
#include "live/consumer.h"
#include "live/wire.h"

/* Parameters: bits of tracks, maximum payload size in bytes, and an unpredictable number of the
 * stream, the same in all its wires. */
enum { RTP_WIRE_TRACKS, RTP_WIRE_MTU, RTP_WIRE_SEED };
enum { RTP_WIRE_VIDEO = 1, RTP_WIRE_AUDIO = 2 };
enum { RTP_WIRE_N = 2, RTP_WIRE_CNAME = 9 };

/* Returns a value to add to RTP_WIRE_TRACKS that puts a track on another channel (and its reports
 * on the next one). Players with unusual channels do not share their bytes with the others. */
static inline uint32_t rtp_wire_on_channel(unsigned track, int channel)
{
    return ((uint32_t)channel ^ track * 2) << (8 + 8 * track);
}
static inline uint8_t rtp_wire_channel(uint32_t tracks, unsigned track)
{
    return (uint8_t)((tracks >> (8 + 8 * track)) ^ track * 2);
}

extern const struct live_format rtp_wire;

/* Returns the seed of the stream of that name; constant while the process runs. Any thread. */
uint32_t rtp_wire_seed(const char *stream);
uint32_t rtp_wire_ssrc(uint32_t seed, unsigned track);
uint32_t rtp_wire_base(uint32_t seed, unsigned track); /* RTP timestamp of the source's time 0 */
void rtp_wire_cname(uint32_t seed, char out[RTP_WIRE_CNAME]);
/* Returns the payload type of a codec. Each codec has its own, so a player never decodes frames of
 * a later publisher with the wrong codec. 0: RTP does not carry the codec. */
uint8_t rtp_wire_type(enum av_codec codec);

/* A track of a source for a description; `codec` AV_CODEC_NONE: no such track, or not known yet. */
struct rtp_wire_track {
    enum av_codec codec;
    const uint8_t *config; /* configuration in force, borrowed until the next yield */
    size_t size;           /* 0: none, and none needed */
};
void rtp_wire_tracks(const struct live_source *src, struct rtp_wire_track out[RTP_WIRE_N]);

/* Finds where the media of a player begin on each track, for RTP-Info. `time` is the same moment
 * for all tracks; `seq` is that of the first packet, if it exists already. Nothing is set without a
 * key frame. `tracks` is the wire's RTP_WIRE_TRACKS. Does not yield; may move a cursor that is too
 * old. */
struct rtp_wire_start {
    bool has_seq, has_time;
    uint16_t seq;
    uint32_t time;
};
void rtp_wire_start(struct live_consumer *c, uint32_t tracks,
                    struct rtp_wire_start out[RTP_WIRE_N]);

#endif
