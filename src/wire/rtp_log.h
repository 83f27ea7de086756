/* SPDX-License-Identifier: MIT */
/* rtp_log.h - RTP packets of a stream, made once for all players.
 *
 * The log has two tracks, video and audio, in order of arrival. A packet has a number in its track,
 * which never wraps. Each player adds its own offset to it, and retransmissions for all players
 * come from here. Packets of a publisher keep the publisher's numbers, so a gap is a gap for all
 * players until the lost packet arrives late; then it is appended with its own number.
 *
 * Payloads lie in blocks that are only appended to. Used by one thread.
 */
#ifndef WIRE_RTP_LOG_H
#define WIRE_RTP_LOG_H

#include "co/co.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RTP_LOG_TRACKS = 2, RTP_LOG_PAYLOAD_MAX = 1460, RTP_LOG_EXT_MAX = 254 };

struct rtp_log_entry {
    const uint8_t *data;   /* payload */
    uint16_t size;         /* may be 0, for a publisher that sends padding */
    uint8_t track;         /* 0 video, 1 audio */
    bool marker;
    bool key;              /* a player may start here: a key frame begins */
    bool spare;            /* no other frame needs this frame */
    bool late;             /* a later number of its track arrived before it */
    int64_t number;        /* number in its track */
    int64_t ticks;         /* time in its track's clock, without wraps */
    co_usec at;            /* arrival */
    /* Values of header extensions that are passed on; ext_size 0: none. */
    const uint8_t *ext;    /* pairs of enum sdp_ext and size, then the value */
    uint8_t ext_size;
};

struct rtp_log; /* owned by the caller of rtp_log_new() */
struct rtp_log *rtp_log_new(void);
void rtp_log_free(struct rtp_log *l); /* NULL is fine */

/* Appends a packet and sets `late`. Returns false if it is dropped: out of memory, too large, a
 * duplicate, or more than 2,000 numbers behind. */
bool rtp_log_put(struct rtp_log *l, const struct rtp_log_entry *e);
/* position of the oldest packet */
uint64_t rtp_log_first(const struct rtp_log *l);
uint64_t rtp_log_head(const struct rtp_log *l);
/* Finds the newest position to start at. Returns false if there is none. */
bool rtp_log_key(const struct rtp_log *l, uint64_t *position);
void rtp_log_no_key(struct rtp_log *l); /* players no longer start at current packets */
/* Finds the highest number of a track so far. Returns false if it has no packets. */
bool rtp_log_highest(const struct rtp_log *l, unsigned track, int64_t *number);
/* Reads a packet. Returns false if it was removed or has not arrived yet. Pointers are valid until
 * the next put or trim. */
bool rtp_log_get(const struct rtp_log *l, uint64_t position, struct rtp_log_entry *out);
/* Finds the packet with that number of a track for a retransmission: the last one put. */
bool rtp_log_find(const struct rtp_log *l, unsigned track, int64_t number, uint64_t *position);
/* Removes packets that arrived before `before`, except `from` and those after it, and everything
 * above max_bytes. */
void rtp_log_trim(struct rtp_log *l, co_usec before, uint64_t from, size_t max_bytes);
size_t rtp_log_bytes(const struct rtp_log *l);

#endif
