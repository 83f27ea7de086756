/* SPDX-License-Identifier: MIT */
/* flow_out.h - a flow that we send: messages that wait, fragments that are under way.
 *
 * RFC 7016, section 3.6.2. A message is cut when there is room in a packet and not before, so what
 * waits costs a reference. One that becomes too late is abandoned: what was not cut yet leaves no
 * gap, what is under way is not sent again.
 *
 * No I/O, nothing yields. Owned by its session.
 */
#ifndef PROTO_RTMFP_FLOW_OUT_H
#define PROTO_RTMFP_FLOW_OUT_H

#include "proto/rtmfp/chunks.h"
#include "proto/rtmfp/message.h"

#include <stddef.h>

enum {
    RTMFP_METADATA_MAX = 16,       /* of flows of ours: those of RTMP have 5 bytes or so */
    RTMFP_WAITING_MAX = 4096,      /* messages of a flow */
    RTMFP_UNDER_WAY_MAX = 8192,    /* fragments of a flow */
    RTMFP_FRAGMENT_LEAST = 64,     /* a message is cut into the rest of a packet from this on */
};

/* What goes first when there is not room for all. */
enum rtmfp_order { RTMFP_COMMANDS, RTMFP_AUDIO, RTMFP_VIDEO };

struct rtmfp_fragment {
    struct rtmfp_message *message; /* a reference; NULL: it is done, or never had bytes */
    uint32_t offset, number;       /* number: of its last transmission, of the session */
    uint16_t size;
    uint8_t place;                 /* enum rtmfp_place */
    uint8_t state;                 /* flow_out.c's own */
    bool keep;
    uint8_t misses;                /* acks that brought later transmissions */
};

struct rtmfp_waiting {
    struct rtmfp_message *message; /* a reference */
    bool keep;                     /* it is never abandoned */
};

/* Of all flows that are told of it. */
struct rtmfp_flow_sums {
    uint64_t lost, again, abandoned;
};

struct rtmfp_flow_out {
    struct rtmfp_flow_out *next;   /* of the session, by `order` */
    uint64_t id;
    uint64_t association;          /* the other side's flow that it answers */
    uint8_t metadata[RTMFP_METADATA_MAX], metadata_size;
    bool associated;
    uint8_t order;                 /* enum rtmfp_order */
    bool known;                    /* something of it was acknowledged */
    bool closing, final_sent;      /* by us; its last sequence is out */
    bool rejected;                 /* by the peer: it takes nothing more */
    uint64_t next_seq;             /* of the next fragment; the first is 1 */
    uint64_t base;                 /* the oldest that is not done */
    uint64_t forward;              /* nothing up to here is sent any more (FSN) */
    uint64_t heard;                /* the peer has all up to here, as it said */
    co_usec told_at;               /* forward, by a chunk of its own */
    uint64_t room;                 /* bytes that the peer has room for, as it last said */
    uint32_t in_flight;            /* bytes */
    uint32_t heard_in;             /* the packet of the last ack, as the session counts them */
    uint32_t lost;                 /* fragments that are to be sent again, */
    uint64_t lost_from;            /* none of them before this one */
    co_usec probed_at, probe_wait; /* while the peer has no room */
    /* from base on; place: sequence modulo under_way_room, a power of two */
    struct rtmfp_fragment *under_way;
    struct rtmfp_waiting *waiting; /* a ring */
    uint32_t under_way_room, waiting_room, waiting_first, waiting_n;
    uint32_t cut;                  /* bytes of the first that waits that are out already */
    size_t waiting_bytes;
    uint64_t missed, again, abandoned; /* fragments lost, and sent again; messages */
    struct rtmfp_flow_sums *sums;  /* where they count as well; or NULL */
    void *user;                    /* of who opened it */
};

/* A fragment, as User Data takes it. */
struct rtmfp_cut {
    uint64_t seq;
    const uint8_t *data;
    size_t size;
    enum rtmfp_place place;
    bool abandoned, final;
};

void rtmfp_flow_out_init(struct rtmfp_flow_out *f, uint64_t id, enum rtmfp_order order);
void rtmfp_flow_out_fini(struct rtmfp_flow_out *f);

/* Append; a reference is taken. False: too much waits already, there is no memory, or the flow is
 * closing or rejected. */
bool rtmfp_flow_out_write(struct rtmfp_flow_out *f, struct rtmfp_message *m, bool keep)
    __attribute__((warn_unused_result));
/* Give up all that was made before that moment, but what is to be kept. Returns how many. */
unsigned rtmfp_flow_out_abandon(struct rtmfp_flow_out *f, co_usec made_before);
/* When the first that waits was made; INT64_MAX: nothing waits. */
static inline co_usec rtmfp_flow_out_oldest(const struct rtmfp_flow_out *f)
{
    return f->waiting_n > 0 ? f->waiting[f->waiting_first].message->made : INT64_MAX;
}
void rtmfp_flow_out_close(struct rtmfp_flow_out *f);  /* after what waits */
void rtmfp_flow_out_reject(struct rtmfp_flow_out *f); /* the peer said so */

/* Has it something for a packet now? What is lost comes before what is new; of new ones no more
 * than the peer has room for. */
bool rtmfp_flow_out_ready(const struct rtmfp_flow_out *f);
/* Of the fragment that rtmfp_flow_out_next() would give. */
uint64_t rtmfp_flow_out_next_seq(const struct rtmfp_flow_out *f);
/* The next fragment, of at most `room` bytes; `after`: only the one whose sequence follows that
 * one, 0: any. False: there is none for now. It is under way by that transmission. */
bool rtmfp_flow_out_next(struct rtmfp_flow_out *f, size_t room, uint64_t after, uint32_t number,
                         struct rtmfp_cut *out);
/* What was abandoned is a gap for the peer, and nothing is there that would tell it: an empty
 * chunk is to (3.6.2.6: sequence = forward, abandoned). */
static inline bool rtmfp_flow_out_must_tell(const struct rtmfp_flow_out *f)
{
    return f->forward > f->heard && f->in_flight == 0 && f->lost == 0 && f->waiting_n == 0 &&
           !f->rejected;
}

/* What an ack tells: all up to one, then ranges above it in order. Then rtmfp_flow_out_judge() with
 * the latest transmission that was freed. Bytes that are not in flight any more. */
struct rtmfp_freed {
    uint32_t bytes, latest; /* latest: a transmission, as its number */
    bool any;
};
void rtmfp_flow_out_acked(struct rtmfp_flow_out *f, uint64_t first, uint64_t last,
                          struct rtmfp_freed *freed);
/* Count what stays behind as missed once more; by three times it is lost. Bytes that are not in
 * flight any more. *gaps: something stayed behind. */
uint32_t rtmfp_flow_out_judge(struct rtmfp_flow_out *f, uint32_t latest, bool *gaps);
void rtmfp_flow_out_timeout(struct rtmfp_flow_out *f); /* all in flight is lost */
/* The oldest transmission in flight that matters; false: there is none. */
bool rtmfp_flow_out_oldest_flying(const struct rtmfp_flow_out *f, uint32_t *number);
/* All of that transmission are to be sent again: bytes that are not in flight any more. */
uint32_t rtmfp_flow_out_again(struct rtmfp_flow_out *f, uint32_t number);
/* Nothing of it is left to be sent or heard. */
bool rtmfp_flow_out_complete(const struct rtmfp_flow_out *f);

#endif
