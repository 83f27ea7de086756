/* SPDX-License-Identifier: MIT */
/* rtp.h - received RTP tracks as the publisher of a live stream.
 *
 *     r = rtp_intake_new(&opts);
 *     err = rtp_intake_add(r, &medium, &track);       each track of the description
 *     rtp_intake_open(r, track, &rx);                 tracks that will be sent
 *     rtp_intake_begin(r, src);                       the caller has become its publisher
 *     rtp_intake_put(r, track, packet, size, now) ...
 *     rtp_intake_sr(r, track, ssrc, &sr, now) ...
 *     if (now >= rtp_intake_due(r)) rtp_intake_tick(r, now);
 *     rtp_intake_free(r);
 *
 * Builds frames from packets and pushes them as packets of the source, on one clock by the sender's
 * reports, with decoding times, decoder configurations, and metadata for RTMP and FLV players. No
 * I/O, and nothing here yields.
 */
#ifndef INTAKE_RTP_H
#define INTAKE_RTP_H

#include "format/rtp/unpack.h"
#include "live/source.h"
#include "proto/rtp/receiver.h"

enum { RTP_INTAKE_TRACKS = 2 }; /* one of video, one of audio */

struct co_group;
struct rtp_intake; /* owned by the caller of rtp_intake_new() */

struct rtp_intake_opts {
    bool keep_broken;      /* use frames after a loss without waiting for a key frame */
    const char *signature; /* our name in the metadata, borrowed; NULL: none */
    /* Group for the coroutine that converts Opus to AAC and publishes it while the stream is read;
     * it must outlive the intake. NULL: audio stays Opus. */
    struct co_group *transcoders;
    int aac_bitrate;
    const struct live_publisher *publisher;
};

/* A medium by its a=rtpmap and a=fmtp. */
struct rtp_intake_medium {
    const struct rtp_format *fmt;
    uint32_t clock;     /* 0: the codec's usual clock */
    unsigned channels;  /* 0: unknown */
    struct span fmtp;
};

struct rtp_intake *rtp_intake_new(const struct rtp_intake_opts *opts);
/* Ends the publisher: nothing is pushed afterwards, even if something is in progress. NULL is
 * fine. */
void rtp_intake_end(struct rtp_intake *r);
void rtp_intake_free(struct rtp_intake *r); /* NULL is fine; releases the source */

/* Adds a track and sets *track to its number, from 0 in order; at most RTP_INTAKE_TRACKS. On an
 * error of rtp_unpacker_init() no track is added. */
err_t rtp_intake_add(struct rtp_intake *r, const struct rtp_intake_medium *m, unsigned *track)
    __attribute__((warn_unused_result));
/* Opens the track for packets with these options; their `clock` must be the track's. */
void rtp_intake_open(struct rtp_intake *r, unsigned track, const struct rtp_receiver_opts *rx);
/* Starts pushing frames to src, to which it takes a reference. Call it once, before packets
 * arrive. */
void rtp_intake_begin(struct rtp_intake *r, struct live_source *src);

/* These behave like the functions of the receiver. */
enum rtp_put rtp_intake_put(struct rtp_intake *r, unsigned track, const uint8_t *data, size_t size,
                            co_usec now);
void rtp_intake_sr(struct rtp_intake *r, unsigned track, uint32_t ssrc, const struct rtcp_sr *sr,
                   co_usec now);
bool rtp_intake_report(struct rtp_intake *r, unsigned track, co_usec now, struct rtcp_block *b);
/* Returns the receiver of an open track. */
const struct rtp_receiver *rtp_intake_receiver(const struct rtp_intake *r, unsigned track);
/* The sender of the track has ended; another one may take its place at once. */
void rtp_intake_over(struct rtp_intake *r, unsigned track);
/* Sets how long it waits for missing packets. */
void rtp_intake_wait(struct rtp_intake *r, unsigned track, co_usec wait);
/* The last packet begins a key frame: once the frame is complete, packets missing before it are
 * waited for only briefly. */
void rtp_intake_key(struct rtp_intake *r, unsigned track);
/* Returns true if video is dropped until a key frame arrives. */
bool rtp_intake_wants_key(const struct rtp_intake *r);

/* Returns the time of the next rtp_intake_tick() if no packet arrives; CO_FOREVER: none. */
co_usec rtp_intake_due(const struct rtp_intake *r);
/* Handles packets that are still missing when their time is up. */
void rtp_intake_tick(struct rtp_intake *r, co_usec now);

struct rtp_intake_stat { /* totals of all tracks */
    uint64_t packets, bytes;  /* received packets, and bytes of payload */
    uint64_t lost;            /* lost packets */
    uint64_t reordered, late; /* packets that arrived early and waited; too late, or twice */
    uint64_t dropped;         /* another payload type or sender, or not RTP */
    uint64_t frames, broken;  /* complete frames; frames dropped because parts are missing */
    uint64_t waiting;         /* frames dropped before a key frame or a configuration */
    double jitter;            /* seconds, of the track with the highest value */
};
void rtp_intake_stat(const struct rtp_intake *r, struct rtp_intake_stat *out);

#endif
