/* SPDX-License-Identifier: MIT */
/* flow_out.h - a flow to the peer: waiting messages, and fragments in flight (RFC 7016, section
 * 3.6.2).
 *
 * A message is split only when a packet has room, so a waiting message costs just a reference. A
 * message that is too late is abandoned: its unsent part leaves no gap, and its fragments in flight
 * are not retransmitted.
 * No I/O, does not yield. Owned by its session.
 */
#ifndef PROTO_RTMFP_FLOW_OUT_H
#define PROTO_RTMFP_FLOW_OUT_H

#include "proto/rtmfp/chunks.h"
#include "proto/rtmfp/message.h"

#include <stddef.h>

enum {
    RTMFP_METADATA_MAX = 16,       /* limit for our flows: those of RTMP have about 5 bytes */
    RTMFP_WAITING_MAX = 4096,      /* limit of messages that wait in a flow */
    RTMFP_FRAGMENTS_MAX = 8192,    /* limit of fragments of a flow in flight */
    RTMFP_FRAGMENT_LEAST = 64,     /* smallest fragment to cut from a longer message */
};

/* Priority when there is not room for all. */
enum rtmfp_order { RTMFP_COMMANDS, RTMFP_AUDIO, RTMFP_VIDEO };

struct rtmfp_fragment {
    struct rtmfp_message *message; /* a reference; NULL: done, or without bytes */
    uint32_t offset, number;       /* number: the session's number of its last transmission */
    uint16_t size;
    uint8_t position;                 /* enum rtmfp_position */
    uint8_t state;                 /* private to flow_out.c */
    bool keep;
    uint8_t misses;                /* number of acks for later transmissions */
};

struct rtmfp_waiting {
    struct rtmfp_message *message; /* a reference */
    bool keep;                     /* never abandoned */
};

/* Sums over all flows that point to it. */
struct rtmfp_flow_sums {
    uint64_t lost, retransmitted, abandoned;
};

struct rtmfp_flow_out {
    struct rtmfp_flow_out *next;   /* in the session's list, ordered by `order` */
    uint64_t id;
    uint64_t association;          /* the peer's flow that this flow responds to */
    uint8_t metadata[RTMFP_METADATA_MAX], metadata_size;
    bool associated;
    uint8_t order;                 /* enum rtmfp_order */
    bool known;                    /* part of it was acknowledged */
    bool closing, final_sent;      /* closing by us; the last sequence number was sent */
    bool rejected;                 /* by the peer */
    uint64_t next_seq;             /* number of the next fragment; the first is 1 */
    uint64_t base;                 /* oldest fragment that is not done */
    uint64_t forward;              /* nothing up to here will be sent again (FSN) */
    uint64_t confirmed;            /* the peer confirmed everything up to here */
    co_usec announced_at;          /* when a separate chunk last announced `forward` */
    uint64_t room;                 /* bytes that fit into the peer's window, as last advertised */
    uint32_t in_flight;            /* bytes */
    uint32_t ack_packet; /* number of the packet with the last ack, as counted by the session */
    uint32_t lost;                 /* fragments to retransmit, */
    uint64_t lost_from;            /* none of them before this one */
    co_usec probed_at, probe_wait; /* while the peer's window is 0 */
    /* fragments from `base` on; the index is the sequence number modulo fragments_room, a power of
     * two */
    struct rtmfp_fragment *fragments;
    struct rtmfp_waiting *waiting; /* a ring */
    uint32_t fragments_room, waiting_room, waiting_first, waiting_n;
    uint32_t cut;                  /* bytes of the first waiting message that were already sent */
    size_t waiting_bytes;
    uint64_t missed, retransmitted, abandoned; /* fragments lost, fragments retransmitted, messages
                                        * abandoned */
    struct rtmfp_flow_sums *sums;  /* additional counters, or NULL */
    void *user;                    /* for the code that opened it */
};

/* A fragment to be sent as User Data. */
struct rtmfp_cut {
    uint64_t seq;
    const uint8_t *data;
    size_t size;
    enum rtmfp_position position;
    bool abandoned, final;
};

void rtmfp_flow_out_init(struct rtmfp_flow_out *f, uint64_t id, enum rtmfp_order order);
void rtmfp_flow_out_fini(struct rtmfp_flow_out *f);

/* Appends a message and takes a reference. Returns false if too many messages wait, memory
 * allocation fails, or the flow is closing or rejected. */
bool rtmfp_flow_out_write(struct rtmfp_flow_out *f, struct rtmfp_message *m, bool keep)
    __attribute__((warn_unused_result));
/* Abandons all messages created before this time, except those to keep. Returns their number. */
unsigned rtmfp_flow_out_abandon(struct rtmfp_flow_out *f, co_usec created_before);
/* Returns when the first waiting message was created; INT64_MAX if none waits. */
static inline co_usec rtmfp_flow_out_oldest(const struct rtmfp_flow_out *f)
{
    return f->waiting_n > 0 ? f->waiting[f->waiting_first].message->created_at : INT64_MAX;
}
void rtmfp_flow_out_close(struct rtmfp_flow_out *f);  /* after the waiting messages */
void rtmfp_flow_out_reject(struct rtmfp_flow_out *f); /* called when the peer rejects it */

/* Returns whether it has a fragment for a packet now. Retransmissions come before new fragments,
 * which are limited by the peer's window. */
bool rtmfp_flow_out_ready(const struct rtmfp_flow_out *f);
/* Returns the sequence number of the fragment that rtmfp_flow_out_next() would return. */
uint64_t rtmfp_flow_out_next_seq(const struct rtmfp_flow_out *f);
/* Returns the next fragment, of at most `room` bytes, and counts it as in flight with this
 * transmission number. `after`: only the fragment that follows this sequence number; 0: any.
 * Returns false if there is none for now. */
bool rtmfp_flow_out_next(struct rtmfp_flow_out *f, size_t room, uint64_t after, uint32_t number,
                         struct rtmfp_cut *out);
/* Whether abandoned fragments left a gap at the peer that no other chunk announces; then an empty
 * chunk must (3.6.2.6: sequence = forward, abandoned). */
static inline bool rtmfp_flow_out_must_announce(const struct rtmfp_flow_out *f)
{
    return f->forward > f->confirmed && f->in_flight == 0 && f->lost == 0 && f->waiting_n == 0 &&
           !f->rejected;
}

/* Handles an ack: first everything up to a number, then ranges above it in order. Then call
 * rtmfp_flow_out_judge() with the latest transmission that was freed. `bytes` are no longer in
 * flight. */
struct rtmfp_freed {
    uint32_t bytes, latest; /* latest: transmission number */
    bool any;
};
void rtmfp_flow_out_acked(struct rtmfp_flow_out *f, uint64_t first, uint64_t last,
                          struct rtmfp_freed *freed);
/* Counts fragments that were sent before `latest` and are unacknowledged as missed; after three
 * times a fragment is lost. Returns the bytes no longer in flight. *gaps: some remain. */
uint32_t rtmfp_flow_out_judge(struct rtmfp_flow_out *f, uint32_t latest, bool *gaps);
void rtmfp_flow_out_timeout(struct rtmfp_flow_out *f); /* everything in flight is lost */
/* Returns the oldest transmission in flight that still matters, or false if there is none. */
bool rtmfp_flow_out_oldest_flying(const struct rtmfp_flow_out *f, uint32_t *number);
/* Schedules the fragments of this transmission for retransmission; returns the bytes no longer in
 * flight. */
uint32_t rtmfp_flow_out_retransmit(struct rtmfp_flow_out *f, uint32_t number);
/* Returns whether nothing is left to send or to be acknowledged. */
bool rtmfp_flow_out_complete(const struct rtmfp_flow_out *f);

#endif
