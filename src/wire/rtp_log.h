/* SPDX-License-Identifier: MIT */
/* rtp_log.h - packets of RTP of a stream, made once for all who are sent them.
 *
 * Two tracks, video and sound, in the order in which they came or were made. A packet has its
 * number in its track, which never wraps: who plays adds a number of its own, and repeats come from
 * here for all. Packets of a publisher have that publisher's numbers, so a hole is a hole for all
 * until what was lost comes late: it is appended then, with the number that it has.
 *
 * Payloads lie in blocks that are immutable behind what was appended. All is of one thread.
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
    uint16_t size;         /* may be 0: of a publisher that pads */
    uint8_t track;         /* 0 video, 1 sound */
    bool marker;
    bool key;              /* a player may start here: a key frame begins */
    bool spare;            /* of a picture that no other needs */
    bool late;             /* a later number of its track came before it */
    int64_t number;        /* in its track */
    int64_t ticks;         /* of its track's clock, without wrap */
    co_usec at;            /* when it came */
    /* Values of header extensions that are passed on; ext_size 0: none. */
    const uint8_t *ext;    /* pairs of enum sdp_ext and size, then the value */
    uint8_t ext_size;
};

struct rtp_log; /* owned by who made it */
struct rtp_log *rtp_log_new(void);
void rtp_log_free(struct rtp_log *l); /* NULL is fine */

/* Append; `late` is found out here. False: there is no memory, it is too large, or its number was
 * there before or is over 2,000 behind: it is left out. */
bool rtp_log_put(struct rtp_log *l, const struct rtp_log_entry *e);
uint64_t rtp_log_first(const struct rtp_log *l); /* places: the oldest that is kept, the next */
uint64_t rtp_log_head(const struct rtp_log *l);
/* The newest place to start at. False: there is none. */
bool rtp_log_key(const struct rtp_log *l, uint64_t *place);
void rtp_log_no_key(struct rtp_log *l); /* nobody starts at what is there by now */
/* The highest number of a track so far. False: it had none. */
bool rtp_log_highest(const struct rtp_log *l, unsigned track, int64_t *number);
/* False: not there any more, or not yet. Pointers until the next put or trim. */
bool rtp_log_get(const struct rtp_log *l, uint64_t place, struct rtp_log_entry *out);
/* The packet of that number of a track, for a repeat: the last one put. */
bool rtp_log_find(const struct rtp_log *l, unsigned track, int64_t number, uint64_t *place);
/* Forget what came before `before`, but not `from` and what follows; and all above max_bytes. */
void rtp_log_trim(struct rtp_log *l, co_usec before, uint64_t from, size_t max_bytes);
size_t rtp_log_bytes(const struct rtp_log *l);

#endif
