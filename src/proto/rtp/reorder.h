/* SPDX-License-Identifier: MIT */
/* reorder.h - puts packets that arrive over UDP in order.
 *
 * Packets in order pass through without a copy. An early packet is copied and waits for the missing
 * ones, with limits on packets, bytes and time; then the gap is reported and skipped. Two
 * consecutive packets with a distant number mean that the source has restarted.
 * Over a connection packets are in order already: with a window of 1 nothing waits, and any number
 * is accepted.
 *
 *     rtp_reorder_put(&r, seq, data, size, now);
 *     while (rtp_reorder_next(&r, now, &got)) ...       also at rtp_reorder_deadline()
 */
#ifndef PROTO_RTP_REORDER_H
#define PROTO_RTP_REORDER_H

#include "co/co.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RTP_REORDER_MAX = 1024, RTP_REORDER_BYTES = 2 << 20, RTP_RESTART = 3000 };

struct rtp_early;

struct rtp_reorder {
    unsigned window;     /* packets, 1 or a power of two */
    co_usec wait;
    bool started, jumped, restart;
    int64_t next;        /* next expected number */
    uint16_t jump;       /* number after the last distant one */
    uint64_t skipped;    /* skipped numbers that are not reported yet */
    uint64_t late, far;  /* dropped: too late or duplicate; distant or invalid numbers */
    uint64_t reordered;  /* packets that arrived early and waited */
    uint64_t restarts;
    /* private */
    const uint8_t *in;   /* packet passed to put and not delivered yet */
    size_t in_size;
    int64_t in_seq;
    struct rtp_early *early; /* NULL until a packet waits */
    unsigned held;
    size_t held_bytes;
    co_usec since;       /* arrival of the first waiting packet */
    uint8_t *given;
};

struct rtp_ordered {
    const uint8_t *data; /* valid until the next call */
    size_t size;
    int64_t seq;
    uint64_t lost;       /* numbers missing right before it */
    bool restart;        /* it starts a new numbering */
};

/* `window` is at most RTP_REORDER_MAX. */
void rtp_reorder_init(struct rtp_reorder *r, unsigned window, co_usec wait);
void rtp_reorder_fini(struct rtp_reorder *r);

/* Handles a received packet. Its bytes must stay valid until rtp_reorder_next() returns false.
 * Returns false if it was dropped and counted. */
bool rtp_reorder_put(struct rtp_reorder *r, uint16_t seq, const uint8_t *data, size_t size,
                     co_usec now);
bool rtp_reorder_next(struct rtp_reorder *r, co_usec now, struct rtp_ordered *out);
/* Returns a waiting packet by its number without wrap, or NULL. */
const uint8_t *rtp_reorder_find(const struct rtp_reorder *r, int64_t seq, size_t *size);
/* Continues at `seq`, which is ahead; earlier packets are no longer needed. */
void rtp_reorder_skip_to(struct rtp_reorder *r, int64_t seq);
/* Returns when the waiting packets have waited long enough; CO_FOREVER if none waits. */
co_usec rtp_reorder_deadline(const struct rtp_reorder *r);

#endif
