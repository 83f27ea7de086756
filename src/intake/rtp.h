/* SPDX-License-Identifier: MIT */
/* rtp.h - tracks of RTP that come in, as a publisher of a live stream.
 *
 *     r = rtp_intake_new(&opts);
 *     err = rtp_intake_add(r, &medium, &track);       each, as it was described or agreed on
 *     rtp_intake_open(r, track, &rx);                 those that will come
 *     rtp_intake_begin(r, src);                       the caller has become its publisher
 *     rtp_intake_put(r, track, packet, size, now) ...
 *     rtp_intake_sr(r, track, ssrc, &sr, now) ...
 *     if (now >= rtp_intake_due(r)) rtp_intake_tick(r, now);
 *     rtp_intake_free(r);
 *
 * Packets become frames, frames packets of the source: on one clock by the sender's reports, with
 * decoding times, decoder configurations, and metadata for who plays by RTMP or FLV. No I/O, and
 * nothing here yields.
 */
#ifndef INTAKE_RTP_H
#define INTAKE_RTP_H

#include "format/rtp/unpack.h"
#include "live/source.h"
#include "proto/rtp/receiver.h"

enum { RTP_INTAKE_TRACKS = 2 }; /* one of video, one of sound */

struct co_group;
struct rtp_intake; /* owned by who made it */

struct rtp_intake_opts {
    bool keep_broken;      /* what follows a loss is taken before the next key frame, too */
    const char *signature; /* who we are, for who plays; borrowed; NULL: not said */
    /* Opus becomes AAC, while somebody reads the stream: the group of who converts it, and who
     * publishes, as long as the intake is there. NULL: it stays Opus. */
    struct co_group *sounds;
    int aac_bitrate;
    const struct live_publisher *publisher;
};

/* As a=rtpmap and a=fmtp have it. */
struct rtp_intake_medium {
    const struct rtp_format *fmt;
    uint32_t clock;     /* 0: the usual one */
    unsigned channels;  /* 0: not said */
    struct span fmtp;
};

struct rtp_intake *rtp_intake_new(const struct rtp_intake_opts *opts);
/* Its publisher ends: nothing is pushed any more, whatever is under way. NULL is fine. */
void rtp_intake_end(struct rtp_intake *r);
void rtp_intake_free(struct rtp_intake *r); /* NULL is fine; the source is given back */

/* A track, known by *track from now on, from 0 in order; at most RTP_INTAKE_TRACKS. What
 * rtp_unpacker_init() says: then there is none. */
err_t rtp_intake_add(struct rtp_intake *r, const struct rtp_intake_medium *m, unsigned *track)
    __attribute__((warn_unused_result));
/* Its packets come, in that way; `clock` of it is the track's. */
void rtp_intake_open(struct rtp_intake *r, unsigned track, const struct rtp_receiver_opts *rx);
/* Once, before packets come: their frames are of that stream, of which it takes a reference. */
void rtp_intake_begin(struct rtp_intake *r, struct live_source *src);

/* What is true of the receiver below is true of these. */
enum rtp_put rtp_intake_put(struct rtp_intake *r, unsigned track, const uint8_t *data, size_t size,
                            co_usec now);
void rtp_intake_sr(struct rtp_intake *r, unsigned track, uint32_t ssrc, const struct rtcp_sr *sr,
                   co_usec now);
bool rtp_intake_report(struct rtp_intake *r, unsigned track, co_usec now, struct rtcp_block *b);
/* A track that is open. */
const struct rtp_receiver *rtp_intake_receiver(const struct rtp_intake *r, unsigned track);
/* Its source has ended, another may take its place at once. */
void rtp_intake_over(struct rtp_intake *r, unsigned track);
/* From now on it waits so long for what is missing. */
void rtp_intake_wait(struct rtp_intake *r, unsigned track, co_usec wait);
/* The packet that was put last is of the beginning of a key frame: once that is whole, what is
 * missing in front of it is not waited for much longer. */
void rtp_intake_key(struct rtp_intake *r, unsigned track);
/* Video is left out for want of a key frame. */
bool rtp_intake_wants_key(const struct rtp_intake *r);

/* When there is something to do though nothing comes; CO_FOREVER: never. */
co_usec rtp_intake_due(const struct rtp_intake *r);
/* What was waited for has not come. */
void rtp_intake_tick(struct rtp_intake *r, co_usec now);

struct rtp_intake_stat { /* of all tracks together */
    uint64_t packets, bytes;  /* that came, bytes of payload */
    uint64_t lost;            /* packets that are missing by now */
    uint64_t reordered, late; /* that came early and waited; too late, or twice */
    uint64_t dropped;         /* of another type or sender, or none */
    uint64_t frames, broken;  /* whole ones; left out for something that is missing of them */
    uint64_t waiting;         /* left out before a key frame, or before a configuration */
    double jitter;            /* seconds, of the one that has most */
};
void rtp_intake_stat(const struct rtp_intake *r, struct rtp_intake_stat *out);

#endif
