/* SPDX-License-Identifier: MIT */
/* flow_in.h - a flow that the peer sends: fragments in, whole messages out, in order.
 *
 * RFC 7016, section 3.6.3. A message that comes in one piece and in its turn is given out where it
 * lies; else its bytes are copied once. Memory is bounded by RTMFP_FLOW_HELD and by what the
 * session has left; and so is how much there is to do at once when a gap is filled, as a fragment
 * that waits counts for HELD_LEAST bytes, however small it is.
 *
 * No I/O, nothing yields. Owned by its session.
 */
#ifndef PROTO_RTMFP_FLOW_IN_H
#define PROTO_RTMFP_FLOW_IN_H

#include "proto/rtmfp/chunks.h"

#include <stddef.h>

/* ---- which sequence numbers of a flow came: all up to one, and ranges above it.
 *
 * RFC 7016, section 3.6.3.2 (the set of sequence numbers seen). Memory only while there are gaps,
 * and bounded: what would be one range too many is refused, as if it had never come.
 */

enum { RTMFP_RANGES_MAX = 256 };

struct rtmfp_ranges { /* zeroed: nothing came, numbers begin at 1 */
    uint64_t upto;            /* this one came, and all below it */
    struct rtmfp_range *v;    /* in order, with a gap before each; NULL: none */
    uint16_t n, room;
};

void rtmfp_ranges_fini(struct rtmfp_ranges *r);
bool rtmfp_ranges_has(const struct rtmfp_ranges *r, uint64_t seq);
/* False: there are too many gaps, or no memory; nothing changed. */
bool rtmfp_ranges_add(struct rtmfp_ranges *r, uint64_t seq) __attribute__((warn_unused_result));
/* All up to that one count as having come. */
void rtmfp_ranges_forward(struct rtmfp_ranges *r, uint64_t upto);

enum {
    RTMFP_FLOW_HELD = 512 << 10,    /* bytes of a flow that wait for others */
    RTMFP_SESSION_HELD = 2 << 20,   /* of all flows of a session; what is put together of messages
                                     * counts, too, and may be one message more */
};

struct rtmfp_held; /* a fragment that waits */

/* What the flows of a session hold together, in bytes, and may. */
struct rtmfp_store {
    size_t held, most;
};

struct rtmfp_flow_in {
    struct rtmfp_flow_in *next;     /* of the session */
    uint64_t id;
    struct rtmfp_ranges seen;
    uint64_t given;                 /* messages were given out, or given up, up to here */
    struct rtmfp_held *first, *last; /* by sequence, all above `given` */
    uint8_t *part;                  /* of a message whose first fragments came */
    size_t part_size, part_room;
    uint64_t part_seq;              /* the last fragment in it */
    size_t held;                    /* bytes that wait, without `part` */
    size_t most;                    /* of one message; 0: what the session says */
    uint64_t final_seq;             /* 0: not known */
    bool in_part;
    bool accepted;                  /* when it was opened: who listens knows it */
    bool rejected;                  /* by us: an exception goes in front of each ack */
    bool direct;                    /* messages are given out when they are whole, not in order */
    bool suspended;                 /* no more is taken: the window that is told is 0 */
    bool ack_now, ack_soon;         /* it is to be acknowledged: at once, within 200 ms */
    bool was_small;                 /* the window last told was below 2 blocks */
    uint64_t reject_code;
    uint64_t lost;                  /* messages that the peer gave up, at least */
    void *user;                     /* of who listens */
};

/* Who takes messages: the bytes are valid during the call. False: it wants no more of this flow,
 * which is rejected. It must not free the flow. */
typedef bool rtmfp_take(void *user, struct rtmfp_flow_in *f, const uint8_t *data, size_t size);

enum rtmfp_taken {
    RTMFP_TAKEN,
    RTMFP_NO_ROOM,   /* as if it had never come */
    RTMFP_TOO_LARGE, /* a message is over the limit */
    RTMFP_NONSENSE,  /* forward or final contradict what was said before */
};

/* `most`: bytes of one message, of a flow that does not say. */
enum rtmfp_taken rtmfp_flow_in_put(struct rtmfp_flow_in *f, const struct rtmfp_user_data *d,
                                   struct rtmfp_store *store, size_t most, rtmfp_take *take,
                                   void *user);
void rtmfp_flow_in_fini(struct rtmfp_flow_in *f, struct rtmfp_store *store);
/* What is to be told as room, in blocks of 1024 bytes (8): at least 1, unless it is suspended. */
uint64_t rtmfp_flow_in_window(const struct rtmfp_flow_in *f, const struct rtmfp_store *store);
/* All up to the final one came, or were given up. */
static inline bool rtmfp_flow_in_complete(const struct rtmfp_flow_in *f)
{
    return f->final_seq && f->seen.upto >= f->final_seq;
}

#endif
