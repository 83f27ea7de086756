/* SPDX-License-Identifier: MIT */
/* flow_in.h - a flow from the peer: reassembles fragments into messages, in order (RFC 7016,
 * section 3.6.3).
 *
 * A message that arrives in one fragment and in order is delivered without a copy; other bytes are
 * copied once. Memory is bounded by RTMFP_FLOW_HELD and by the session's limit. The work when a gap
 * is filled is bounded too, because each waiting fragment counts as at least HELD_LEAST bytes.
 * No I/O, does not yield. Owned by its session.
 */
#ifndef PROTO_RTMFP_FLOW_IN_H
#define PROTO_RTMFP_FLOW_IN_H

#include "proto/rtmfp/chunks.h"

#include <stddef.h>

/* ---- received sequence numbers of a flow: everything up to a number, and ranges above it
 * RFC 7016, section 3.6.3.2 (the set of sequence numbers seen). Uses memory only while there are
 * gaps, and a bounded amount: a number that would exceed the limit of ranges is treated as not
 * received. */

enum { RTMFP_RANGES_MAX = 256 };

struct rtmfp_ranges { /* zeroed: nothing received, numbers start at 1 */
    uint64_t upto;            /* this number and all below it were received */
    struct rtmfp_range *v;    /* in order, with a gap before each; NULL: none */
    uint16_t n, room;
};

void rtmfp_ranges_fini(struct rtmfp_ranges *r);
bool rtmfp_ranges_has(const struct rtmfp_ranges *r, uint64_t seq);
/* Returns false, without any change, if there are too many gaps or memory allocation fails. */
bool rtmfp_ranges_add(struct rtmfp_ranges *r, uint64_t seq) __attribute__((warn_unused_result));
/* Marks all numbers up to this one as received. */
void rtmfp_ranges_forward(struct rtmfp_ranges *r, uint64_t upto);

enum {
    RTMFP_FLOW_HELD = 512 << 10,    /* limit for the waiting fragments of one flow, in bytes */
    RTMFP_SESSION_HELD = 2 << 20,   /* limit for all flows of a session; partly assembled messages
                                     * count too and may exceed it by one message */
};

struct rtmfp_held; /* a fragment that waits */

/* Bytes held by all flows of a session, and their limit. */
struct rtmfp_store {
    size_t held, most;
};

struct rtmfp_flow_in {
    struct rtmfp_flow_in *next;     /* in the session's list */
    uint64_t id;
    struct rtmfp_ranges seen;
    uint64_t given;                 /* messages were delivered or given up up to here */
    struct rtmfp_held *first, *last; /* ordered by sequence number, all above `given` */
    uint8_t *part;                  /* first part of an incomplete message */
    size_t part_size, part_room;
    uint64_t part_seq;              /* last fragment in it */
    size_t held;                    /* bytes of waiting fragments, without `part` */
    size_t most;                    /* limit of one message; 0: that of the session */
    uint64_t final_seq;             /* 0: unknown */
    bool in_part;
    bool accepted;                  /* the listener accepted it when it was opened */
    bool rejected;                  /* rejected by us: an exception precedes each ack */
    bool direct;                    /* deliver messages when complete, not in order */
    bool suspended;                 /* accept no more: advertise a window of 0 */
    bool ack_now, ack_soon;         /* acknowledge now; within 200 ms */
    bool was_small;                 /* the last advertised window was below 2 blocks */
    uint64_t reject_code;
    uint64_t lost;                  /* messages that the peer gave up, at least */
    void *user;                     /* for the listener */
};

/* Receives messages; the bytes are valid during the call. Returns false to reject the flow. Must
 * not free the flow. */
typedef bool rtmfp_take(void *user, struct rtmfp_flow_in *f, const uint8_t *data, size_t size);

enum rtmfp_taken {
    RTMFP_TAKEN,
    RTMFP_NO_ROOM,   /* treated as not received */
    RTMFP_TOO_LARGE, /* a message exceeds the limit */
    RTMFP_NONSENSE,  /* forward or final contradict earlier data */
};

/* `most`: limit of one message if the flow has none. */
enum rtmfp_taken rtmfp_flow_in_put(struct rtmfp_flow_in *f, const struct rtmfp_user_data *d,
                                   struct rtmfp_store *store, size_t most, rtmfp_take *take,
                                   void *user);
void rtmfp_flow_in_fini(struct rtmfp_flow_in *f, struct rtmfp_store *store);
/* Returns the window to advertise, in blocks of 1024 bytes: at least 1, or 0 if the flow is
 * suspended. */
uint64_t rtmfp_flow_in_window(const struct rtmfp_flow_in *f, const struct rtmfp_store *store);
/* Returns whether everything up to the final fragment was received or given up. */
static inline bool rtmfp_flow_in_complete(const struct rtmfp_flow_in *f)
{
    return f->final_seq && f->seen.upto >= f->final_seq;
}

#endif
