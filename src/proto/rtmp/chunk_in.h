/* SPDX-License-Identifier: MIT */
/* chunk_in.h - parses a peer's bytes into messages [RTMP 5.3].
 *
 * The reader takes bytes in pieces of any size and never waits. They become state (part of a
 * header, part of a payload) or complete messages, which the caller pops. So a connection needs no
 * buffer. Payload bytes are copied once, into the memory in which the message is delivered. A large
 * message gets this memory as its bytes arrive, because the size in a header is only a claim.
 *
 * Set Chunk Size and Abort take effect here, at their byte. Acknowledgement and Window
 * Acknowledgement Size are handled here too; these four are not delivered. Aggregates (type 22) are
 * delivered as the messages they contain. All other types are delivered, including unknown ones.
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

/* Memory of the incomplete messages of all connections. Each connection has RTMP_IN_FREE bytes for
 * free, and only what exceeds them counts, so peers that send small messages never meet the limit.
 * When the limit is reached, the connection that holds the most memory for the longest time is
 * evicted: its incomplete messages are dropped, and on_evict is called. */
enum { RTMP_IN_FREE = 64 * 1024 };

struct rtmp_in_pool { /* zero it and set the limit; 0: no limit */
    size_t limit, used;
    uint64_t evicted;        /* connections evicted so far */
    struct rtmp_in *members; /* connections that count */
};

/* Parameters shared by many readers, which it must outlive. A reader may switch to another one at
 * any time, for example to higher limits once the peer is known. */
struct rtmp_in_setup {
    /* Allocates memory for a payload, in the reader's `memory`. Returns NULL on failure. */
    uint8_t *(*alloc)(void *memory, size_t size);
    uint8_t *(*grow)(uint8_t *payload, size_t size); /* enlarges; on NULL the payload is
                                                      * unchanged */
    void (*release)(uint8_t *payload);
    uint32_t max_message_size; /* limit for audio, video, and aggregates of them */
    uint32_t max_data_size;    /* limit for metadata */
    uint32_t max_command_size; /* limit for all other messages */
    uint32_t max_chunk_streams;
    size_t max_inflight; /* limit of the memory of all incomplete messages */
    uint32_t at_once;    /* bytes to allocate when a message begins */
    uint32_t head;       /* keep only this many first bytes of audio and video; 0: all */
    struct rtmp_in_pool *pool; /* NULL: no pool */
};

/* malloc and free; the protocol's 16 MB, 1 MB, 64 KB; 64 chunk streams, 32 MB, 64 KB at once */
extern const struct rtmp_in_setup rtmp_in_heap;

struct rtmp_in_stream {
    uint32_t csid;
    uint32_t stamp; /* timestamp field of the last header that had one: absolute or delta */
    uint32_t time, size, stream_id;
    uint32_t got, cap; /* payload bytes received; capacity */
    uint8_t *payload;  /* NULL between messages */
    co_usec begun_at;  /* when the message began */
    uint8_t type;
    bool used;
    bool absolute; /* the timestamp comes from a fmt 0 header */
    bool extended; /* it was an extended timestamp */
    bool bare;     /* the peer sends fmt 3 headers without the extended timestamp */
};

enum { RTMP_IN_HEADER = 18, RTMP_IN_LOW = 6 };

struct rtmp_in { /* do not move: it has pointers into itself */
    /* fields that each message touches, kept together */
    const struct rtmp_in_setup *setup;
    void *memory; /* for setup->alloc(); may change at any time, or be NULL */
    uint32_t chunk_size;
    uint32_t window; /* the peer wants an acknowledgement every `window` bytes; 0: never */
    uint64_t bytes, acked;
    struct rtmp_in_stream *now; /* stream of the chunk that is being read, or NULL */
    uint32_t left;              /* bytes of this chunk still to come */
    bool broken, evicted;
    uint8_t head_size; /* bytes of an incomplete header */
    size_t inflight;   /* bytes of memory of incomplete messages */
    bool (*direct)(void *arg, struct rtmp_msg *msg); /* see rtmp_in_direct() */
    void *direct_arg;
    uint32_t ready_at, ready_end, ready_cap;
    struct rtmp_msg *ready;
    uint32_t split_at, split_shift; /* state of an aggregate at the head of `ready`: bytes consumed,
                                     * time shift */
    struct rtmp_in_stream low[RTMP_IN_LOW]; /* csid 2..7 */

    uint8_t head[RTMP_IN_HEADER];
    uint32_t high_count, high_cap;
    struct rtmp_in_stream *high; /* csid 8 and up, sorted */
    uint32_t peer_acked;         /* sequence number of the peer's last acknowledgement */
    size_t pooled;               /* bytes that count in the pool */
    co_usec pooled_since;
    struct rtmp_in *pool_next, **pool_prev;
    void (*on_evict)(struct rtmp_in *in); /* called on eviction; may be NULL */
};

void rtmp_in_init(struct rtmp_in *in, const struct rtmp_in_setup *setup);
void rtmp_in_fini(struct rtmp_in *in); /* releases all payloads that were not popped */

/* Takes all bytes. After an error (ERR_RTMP_CHUNK, ERR_RTMP_MSG_SIZE, ERR_TOO_LARGE, ERR_TOO_MANY,
 * ERR_NO_MEMORY) the connection is unusable: feeding it again is an error, but complete messages
 * can still be popped. */
err_t rtmp_in_feed(struct rtmp_in *in, const uint8_t *bytes, size_t size)
    __attribute__((warn_unused_result));

/* Pops the next complete message. The caller owns its payload and frees it with setup->release. */
bool rtmp_in_next(struct rtmp_in *in, struct rtmp_msg *out);
/* Returns whether a message can be popped. */
static inline bool rtmp_in_has_message(const struct rtmp_in *in)
{
    return in->ready_at < in->ready_end;
}

/* Offers each complete message to take(arg, msg) at once, from within feed. If take returns true,
 * it owns the message and its payload; if false, the message is queued as usual. While messages are
 * queued, new ones are queued behind them without being offered, so the order stays. take must not
 * use the reader. NULL turns this off. */
void rtmp_in_direct(struct rtmp_in *in, bool (*take)(void *arg, struct rtmp_msg *msg), void *arg);

/* Returns when the oldest incomplete message began; 0 if there is none. */
co_usec rtmp_in_oldest(const struct rtmp_in *in);
/* Treats all incomplete messages as begun now, after a time in which the owner did not read. */
void rtmp_in_restart_timeouts(struct rtmp_in *in);
/* Returns the error of an evicted reader. */
err_t rtmp_in_evicted(const struct rtmp_in *in) __attribute__((warn_unused_result));

/* Moves the reader to another thread: leave on the old one, arrive on the new one. In between it
 * uses no memory of a stream and counts in no pool, and the setup may get the pool of the new
 * thread. */
void rtmp_in_detach(struct rtmp_in *in);
void rtmp_in_attach(struct rtmp_in *in);

/* Returns whether an acknowledgement is due: at half the window, because some peers block at its
 * end. rtmp_in_take_ack() also stores the number to send in *sequence and counts it as sent. */
bool rtmp_in_ack_due(const struct rtmp_in *in);
bool rtmp_in_take_ack(struct rtmp_in *in, uint32_t *sequence);

#endif
