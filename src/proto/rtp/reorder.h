/* SPDX-License-Identifier: MIT */
/* reorder.h - packets in the order of their numbers, for what comes over UDP.
 *
 * What comes in order goes through in place. What comes early is copied and waits for what is
 * missing: bounded in packets, in bytes and in time; then the hole is told and left behind. Numbers
 * that are far off, twice in a row, are those of a source that begins anew.
 *
 * Over a connection the order is given: with a window of 1 nothing waits, and any number is taken.
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
    int64_t next;        /* the number that is awaited */
    uint16_t jump;       /* what comes after one that was far off */
    uint64_t skipped;    /* numbers that were left behind and are not told yet */
    uint64_t late, far;  /* dropped: too late or a second time; of another numbering, or none */
    uint64_t reordered;  /* came early and waited */
    uint64_t restarts;
    /* ours */
    const uint8_t *in;   /* what came and did not go yet */
    size_t in_size;
    int64_t in_seq;
    struct rtp_early *early; /* NULL until one waits */
    unsigned held;
    size_t held_bytes;
    co_usec since;       /* when the first of them came */
    uint8_t *given;
};

struct rtp_ordered {
    const uint8_t *data; /* until the next call */
    size_t size;
    int64_t seq;
    uint64_t lost;       /* numbers that are missing right before it */
    bool restart;        /* it begins another numbering */
};

/* Window: at most RTP_REORDER_MAX. */
void rtp_reorder_init(struct rtp_reorder *r, unsigned window, co_usec wait);
void rtp_reorder_fini(struct rtp_reorder *r);

/* A packet came. Its bytes stay where they are until rtp_reorder_next() has said no. False: it was
 * dropped, and counted. */
bool rtp_reorder_put(struct rtp_reorder *r, uint16_t seq, const uint8_t *data, size_t size,
                     co_usec now);
bool rtp_reorder_next(struct rtp_reorder *r, co_usec now, struct rtp_ordered *out);
/* One that waits, by its number without wrap. NULL: it is not here. */
const uint8_t *rtp_reorder_find(const struct rtp_reorder *r, int64_t seq, size_t *size);
/* Nothing before `seq`, which is ahead, is of use any more: it goes on there. */
void rtp_reorder_skip_to(struct rtp_reorder *r, int64_t seq);
/* When those that wait have waited long enough; CO_FOREVER: none waits. */
co_usec rtp_reorder_deadline(const struct rtp_reorder *r);

#endif
