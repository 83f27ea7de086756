/* SPDX-License-Identifier: MIT */
/* chunk_in.h - from the bytes of a peer to its messages [RTMP 5.3].
 *
 * The reader is fed bytes as they come, cut anywhere, and never waits: all of them become state
 * (part of a header, part of a payload) or complete messages, which are then popped. So nobody
 * needs a buffer per connection. A payload is copied from the fed bytes to the memory that the
 * message is handed over in; a large one gets that memory as it comes, for what a header says is
 * only a claim.
 *
 * Set Chunk Size and Abort take effect here, at their byte. Acknowledgement and Window
 * Acknowledgement Size are kept here too; these four are not given out. Aggregates (type 22) come
 * out as the messages in them. All other types are given out, also those that nobody knows.
 */
#ifndef PROTO_RTMP_CHUNK_IN_H
#define PROTO_RTMP_CHUNK_IN_H

#include "base/err.h"
#include "co/co.h"
#include "proto/rtmp/msg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rtmp_in;

/* What the unfinished messages of all connections take together. A connection has RTMP_IN_FREE for
 * itself, and only what it takes beyond that counts: so who sends small messages never meets the
 * limit. Who does, makes the one lose that holds the most for the longest: its messages are gone at
 * once, and it is told. */
enum { RTMP_IN_FREE = 64 * 1024 };

struct rtmp_in_pool { /* zero it, and set the limit; 0: none */
    size_t limit, used;
    uint64_t evicted;        /* connections that lost, so far */
    struct rtmp_in *members; /* those that count */
};

/* One for many readers; it must outlive them. A reader may be given another one at any time, such
 * as higher limits once the peer is known. */
struct rtmp_in_setup {
    /* Memory for a payload, of the reader's `memory`; NULL: there is none. */
    uint8_t *(*alloc)(void *memory, size_t size);
    uint8_t *(*grow)(uint8_t *payload, size_t size); /* make it larger; on NULL it is what it was */
    void (*release)(uint8_t *payload);
    uint32_t max_message_size; /* of sound, pictures, and aggregates of them */
    uint32_t max_data_size;    /* of metadata */
    uint32_t max_command_size; /* of all else */
    uint32_t max_chunk_streams;
    size_t max_inflight; /* memory of all messages that have begun and are not complete */
    uint32_t at_once;    /* as much of it is taken when a message begins */
    uint32_t head;       /* only so many first bytes of audio and video are kept; 0: all */
    struct rtmp_in_pool *pool; /* NULL: none */
};

/* malloc and free; the protocol's 16 MB, 1 MB, 64 KB; 64 chunk streams, 32 MB, 64 KB at once */
extern const struct rtmp_in_setup rtmp_in_heap;

struct rtmp_in_stream {
    uint32_t csid;
    uint32_t stamp; /* time field of the last header with one: absolute or delta */
    uint32_t time, size, stream_id;
    uint32_t got, cap; /* bytes of the payload that are here, that there is room for */
    uint8_t *payload;  /* NULL between messages */
    co_usec begun_at;  /* the message */
    uint8_t type;
    bool used;
    bool absolute; /* the stamp is of a fmt 0 header */
    bool extended; /* the stamp was an extended one */
    bool bare;     /* the peer sends fmt 3 headers without the extended timestamp */
};

enum { RTMP_IN_HEADER = 18, RTMP_IN_LOW = 6 };

struct rtmp_in { /* do not move: it has pointers into itself */
    /* what every message touches, together */
    const struct rtmp_in_setup *setup;
    void *memory; /* for setup->alloc(); another one at any time, or NULL */
    uint32_t chunk_size;
    uint32_t window; /* the peer wants an acknowledgement each so many bytes; 0: never */
    uint64_t bytes, acked;
    struct rtmp_in_stream *now; /* the chunk that is being read, or NULL */
    uint32_t left;              /* bytes of it to come */
    bool broken, evicted;
    uint8_t head_size; /* of a header that is not complete yet */
    size_t inflight;   /* bytes of memory */
    bool (*direct)(void *arg, struct rtmp_msg *msg); /* see rtmp_in_direct() */
    void *direct_arg;
    uint32_t ready_at, ready_end, ready_cap;
    struct rtmp_msg *ready;
    uint32_t split_at, split_shift; /* of an aggregate that is first in `ready`: bytes gone, time */
    struct rtmp_in_stream low[RTMP_IN_LOW]; /* csid 2..7 */

    uint8_t head[RTMP_IN_HEADER];
    uint32_t high_count, high_cap;
    struct rtmp_in_stream *high; /* csid 8 and up, sorted */
    uint32_t peer_acked;         /* sequence number of the peer's last acknowledgement */
    size_t pooled;               /* as many bytes of memory count in the pool */
    co_usec pooled_since;
    struct rtmp_in *pool_next, **pool_prev;
    void (*on_evict)(struct rtmp_in *in); /* it loses: NULL, or somebody to be told */
};

void rtmp_in_init(struct rtmp_in *in, const struct rtmp_in_setup *setup);
void rtmp_in_fini(struct rtmp_in *in); /* releases all payloads that were not popped */

/* Takes all bytes. After an error (ERR_RTMP_CHUNK, ERR_RTMP_MSG_SIZE, ERR_TOO_LARGE, ERR_TOO_MANY,
 * ERR_NO_MEMORY) the connection is of no use: feeding again is an error, what is ready can be
 * popped. */
err_t rtmp_in_feed(struct rtmp_in *in, const uint8_t *bytes, size_t size)
    __attribute__((warn_unused_result));

/* The next complete message; its payload is the caller's now, to give back by setup->release. */
bool rtmp_in_next(struct rtmp_in *in, struct rtmp_msg *out);
static inline bool rtmp_in_waits(const struct rtmp_in *in) /* one to be popped, or more */
{
    return in->ready_at < in->ready_end;
}

/* Show each complete message to take(arg, msg) at once, from within feed: true, it took the message
 * and its payload; false, it is queued as ever. A message is not shown while others are queued
 * before it, so the order stays. take must not use the reader. NULL ends it. */
void rtmp_in_direct(struct rtmp_in *in, bool (*take)(void *arg, struct rtmp_msg *msg), void *arg);

/* When the oldest of the messages began that are not complete; 0 without any. */
co_usec rtmp_in_oldest(const struct rtmp_in *in);
/* As if they all had begun now: nobody has read on meanwhile. */
void rtmp_in_excuse(struct rtmp_in *in);
/* The error of a reader that lost in its pool. */
err_t rtmp_in_evicted(const struct rtmp_in *in) __attribute__((warn_unused_result));

/* Its connection goes to another thread: whatever it holds is memory of no stream then, and counts
 * in no pool. Between the two the setup may get the pool of the other thread. */
void rtmp_in_leave(struct rtmp_in *in);
void rtmp_in_arrive(struct rtmp_in *in);

/* Is it time to acknowledge? At half the window, for a peer that waits at its end. take: then
 * *sequence is what to send, and it counts as sent. */
bool rtmp_in_ack_due(const struct rtmp_in *in);
bool rtmp_in_take_ack(struct rtmp_in *in, uint32_t *sequence);

#endif
