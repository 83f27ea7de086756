/* SPDX-License-Identifier: MIT */
/* rtp.h - a live stream as interleaved RTP, packed once for all players of the same tracks.
 *
 *     $ ch len | RTP header | payload | $ ch len | ...
 *
 * Track 0 is video on channels 0 and 1, track 1 sound on 2 and 3, whatever a player asked for,
 * unless rtp_wire_on_channel() says otherwise: of several of a kind the first that RTP carries.
 * Frames are whole and follow each other in the order of the log. In front of each packet that a
 * player may start at, and every few seconds, there are sender reports of all tracks, all of one
 * moment, each with its CNAME: so who joins has sound and picture together from the first one on.
 *
 * SSRC, CNAME and timestamps are the stream's, whoever plays which of its tracks: they follow from
 * its seed and the source's clock, and go on over publishers. Sequence numbers are the wire's.
 */
#ifndef WIRE_RTP_H
#define WIRE_RTP_H

#include "av/codec.h"
#include "live/consumer.h"
#include "live/wire.h"

/* Parameters: bits of tracks, bytes of a payload at most, and a number of the stream that nobody
 * guesses, the same in all its wires. */
enum { RTP_WIRE_TRACKS, RTP_WIRE_MTU, RTP_WIRE_SEED };
enum { RTP_WIRE_VIDEO = 1, RTP_WIRE_AUDIO = 2 };
enum { RTP_WIRE_N = 2, RTP_WIRE_CNAME = 9 };

/* What is added to RTP_WIRE_TRACKS so that a track goes on another channel than the usual one (its
 * reports on the next): players with channels of their own do not share their bytes with the
 * others. */
static inline uint32_t rtp_wire_on_channel(unsigned track, int channel)
{
    return ((uint32_t)channel ^ track * 2) << (8 + 8 * track);
}
static inline uint8_t rtp_wire_channel(uint32_t tracks, unsigned track)
{
    return (uint8_t)((tracks >> (8 + 8 * track)) ^ track * 2);
}

extern const struct live_format rtp_wire;

/* Of the stream of that name, the same as long as the process lives. Any thread. */
uint32_t rtp_wire_seed(const char *stream);
uint32_t rtp_wire_ssrc(uint32_t seed, unsigned track);
uint32_t rtp_wire_base(uint32_t seed, unsigned track); /* the timestamp of the source's time 0 */
void rtp_wire_cname(uint32_t seed, char out[RTP_WIRE_CNAME]);
/* The payload type of a codec. Each has its own, so a player takes no frame of another codec, that
 * came with another publisher, for one of its own. 0 also for those that RTP does not carry. */
uint8_t rtp_wire_type(enum av_codec codec);

/* A track of a source as it is described; `codec` AV_CODEC_NONE: there is none, or it is not known
 * yet. */
struct rtp_wire_track {
    enum av_codec codec;
    const uint8_t *config; /* in force, borrowed until the next yield */
    size_t size;           /* 0: it has none, and needs none */
};
void rtp_wire_tracks(const struct live_source *src, struct rtp_wire_track out[RTP_WIRE_N]);

/* Where the media of a player begin, of each track: what RTP-Info says. `time` is of one moment for
 * all tracks; `seq` is of the first packet, if that is there already. Nothing where there is no key
 * frame yet. `tracks` is the wire's RTP_WIRE_TRACKS. Does not yield; may move a cursor that is too
 * old. */
struct rtp_wire_start {
    bool has_seq, has_time;
    uint16_t seq;
    uint32_t time;
};
void rtp_wire_start(struct live_consumer *c, uint32_t tracks,
                    struct rtp_wire_start out[RTP_WIRE_N]);

#endif
