/* SPDX-License-Identifier: MIT */
/* impl.h - the fields of a source, private to the files of live/. */
#ifndef LIVE_IMPL_H
#define LIVE_IMPL_H

#include "base/ref.h"
#include "base/table.h"
#include "live/changes.h"
#include "live/clock.h"
#include "live/consumer.h"
#include "live/evictable.h"
#include "live/mix.h"
#include "live/track_events.h"
#include "live/policy.h"
#include "live/reader.h"
#include "live/tap.h"

/* Configuration in force: the newest packet of each kind and track. The source's own changes with
 * each packet; a snapshot, taken at a key frame, is shared and never changes. */
struct live_configs {
    struct ref ref; /* references to a snapshot */
    uint8_t n;
    const struct av_packet *v[LIVE_CONFIGS];
};

struct live_block {
    struct ref ref;          /* one reference of the wire, and one of each cursor in it */
    bool detached;           /* too old: removed from its wire */
    uint32_t used, cap;      /* bytes in data */
    uint32_t n, ends_cap;    /* number of packets, and capacity of `ends` */
    uint32_t *ends;          /* end offset of each packet */
    uint64_t seq;            /* sequence number of the first packet */
    co_usec begun_at, newest_at;
    struct live_block *next; /* next block of the wire; no reference */
    uint8_t data[];
};

struct live_wire {
    struct live_wire *next; /* next wire of the source */
    struct live_source *src;
    const struct live_format *fmt;
    uint32_t param[LIVE_PARAMS];
    unsigned consumers;
    /* cursors without a position: they start at the next key frame */
    struct live_consumer *waiting;
    struct live_block *first, *last;
    /* the log is rendered up to here; differs from the source's head: the wire lags */
    uint64_t head;
    size_t bytes;  /* allocated bytes of all blocks in the list */
    struct live_block *key_block; /* block of the newest key frame; NULL: no position to start at */
    uint32_t key_offset;
    uint64_t key_seq;
    uint32_t next_size; /* allocation size of the next block, from region_fit() */
    void *state;       /* state of a stateful format */
    struct wr made;    /* output of the format for one packet, before it is copied into a block */
};

struct live_registry {
    struct table sources; /* sources by name */
    struct live_memory memory;
    struct live_evictable *evictables;
    size_t alarm;    /* memory above which a growing source calls squeeze() */
    void (*squeeze)(struct live_registry *r); /* makes the largest streams drop packets */
    bool part;       /* the limit is its share of one that several registries have */
    co_usec logged_at;
};

struct live_source {
    /* First the fields that every packet uses, together: with a thousand publishers none is in a
     * cache. */
    struct ref ref;
    uint32_t cap;                  /* capacity of the ring: a power of two, or 0 */
    const struct av_packet **ring; /* packet `seq` is at seq % cap */
    uint64_t first, head;          /* the oldest packet in the log, and the next one to arrive */
    /* bytes of the packets in the log, including their overhead; and those charged so far */
    size_t bytes, charged;
    /* the same with its configurations and all blocks of its wires */
    size_t memory;
    struct live_registry *registry;
    struct bump *packets;          /* allocator of its packets; NULL before the first publisher */
    uint64_t key;                  /* newest key frame, if have_key */
    bool have_key;
    struct live_kinds kinds;
    uint32_t gop_frames;
    struct live_mix *mix; /* while mix_correct is on */
    struct live_wire *wires;
    struct live_reader *readers;
    struct live_tap *taps; /* taps to its replicas */
    struct live_tap *tap;  /* it is a replica, which receives its packets over this tap */
    bool followed;         /* and the owner worker has a publisher */
    struct live_consumer *parked, **parked_end; /* sorted by wake_seq */
    struct live_ages ages;
    uint64_t in_packets, in_bytes;
    uint64_t video_packets, audio_packets;
    enum av_codec video, audio;
    co_usec shown_at;  /* arrival of the publisher's first key frame; 0: not yet */
    int64_t shown_dts; /* time stamp of that frame */
    struct live_track_waiter *waiters; /* track_events.h */
    struct live_settings set;
    struct live_work work;
    struct live_clock clock;

    struct table_link link;       /* link in the registry */
    char *name;
    struct live_publisher *publisher;
    struct live_publisher *claim; /* the next publisher, if it is admitted */
    size_t config_bytes;
    int64_t key_dts, key_interval;
    struct live_configs configs;       /* configuration in force at head */
    struct live_configs *key_configs;  /* configuration at key; NULL without a key frame */
    uint64_t configs_seq, key_configs_seq; /* sequence numbers at which they last changed */
    struct live_changes changes;
    struct co_task wake;                   /* calls the parked cursors that are due */
    unsigned consumers;
    co_usec idle_since;
    uint64_t out_bytes, keys;
    uint64_t dropped; /* packets dropped by all consumers so far */
    struct live_user_data *user_data;
};

/* Returns the memory of a packet in the log, which for small packets is mostly overhead. */
static inline size_t live_packet_cost(const struct av_packet *pkt)
{
    return sizeof(*pkt) + sizeof(pkt) + pkt->size;
}

/* Calls the parked cursors that are due and wakes the readers of taps that are due, soon
 * afterwards. */
void live_source_wake_soon(struct live_source *src);
static inline bool live_source_is_due(const struct live_source *src)
{
    return src->parked && src->parked->wake_seq <= src->head;
}
/* Charges the current size of the log at once, after a packet changed it. */
void live_source_charge_log(struct live_source *src);
/* A lagging wire or a reader no longer needs the log. */
void live_source_was_read(struct live_source *src);
/* Drops the older half of the log and the wires; returns the number of bytes. A block with a cursor
 * in it stays until the cursor moves. */
size_t live_source_halve(struct live_source *src);
size_t live_source_droppable(const struct live_source *src);

/* Adds `more` bytes to the memory of the source, and subtracts `less`. */
static inline void live_source_charge(struct live_source *src, size_t more, size_t less)
{
    src->memory += more - less;
    if (src->registry)
        src->registry->memory.used += more - less;
}

static inline struct live_span live_source_span(const struct live_source *src)
{
    return (struct live_span){ .first = src->first, .key = src->key, .have_key = src->have_key,
                               .head = src->head };
}

/* Adds a packet from the tap to a replica. The owner worker has already corrected times and order
 * and decided whether a player may start at the packet. `again`: this configuration may have been
 * sent before. Takes a reference of its own. */
void live_source_follow(struct live_source *src, const struct av_packet *pkt, bool again);
void live_source_follow_begin(struct live_source *src); /* the owner worker has a publisher */
void live_source_follow_end(struct live_source *src);   /* it has no publisher any more */

/* Taps, called by the owner worker ... */
void live_taps_put(struct live_source *src, const struct av_packet *pkt, co_usec now);
void live_taps_begin(struct live_source *src);
void live_taps_end(struct live_source *src);
void live_taps_raise(struct live_source *src);
/* Returns the bytes that the log and the taps hold, mostly the same packets. */
size_t live_taps_kept(const struct live_source *src);
/* ... and by a replica. Returns false if there is more; it then continues automatically. */
bool live_tap_pull(struct live_source *src);
void live_tap_request(struct live_source *src);   /* a cursor was parked at the front of the list */
void live_tap_unrequest(struct live_source *src); /* that cursor is no longer parked */

/* Moves the packets that wait in a replica's tap into its log. The caller must hold no packet or
 * range of the log without a reference. */
static inline void live_source_pull(struct live_source *src)
{
    if (src->tap)
        (void)live_tap_pull(src);
}

/* A coroutine that waits for track events; on its stack. */
struct live_track_waiter {
    struct co *co;
    struct live_track_waiter *next, **prev;
};

/* Wakes the waiters. They run after the packet is in the log. */
static inline void live_track_events_signal(struct live_source *src)
{
    for (struct live_track_waiter *w = src->waiters; w; w = w->next)
        co_unpark(w->co);
}

/* Wires, called by the source. */
struct live_wire *live_wire_get(struct live_source *src, const struct live_format *fmt,
                                const uint32_t param[LIVE_PARAMS], co_usec now);
void live_wire_put(struct live_wire *w); /* releases it for one consumer */
/* Renders the packet that is about to be added at the head of the log. */
void live_wire_push(struct live_wire *w, const struct av_packet *pkt, bool key, co_usec now);
static inline bool live_wire_lags(const struct live_wire *w)
{
    return w->head != w->src->head;
}
/* Renders another portion, for a player that reached the end of a lagging wire. */
void live_wire_more(struct live_wire *w, co_usec now);
void live_wire_forget_key(struct live_wire *w);
void live_wire_shrink(struct live_wire *w, size_t bytes);
/* Sets the consumer's position; with b NULL it waits for a key frame. */
void live_consumer_seek(struct live_consumer *c, struct live_block *b, uint32_t offset);
/* Starts it at the newest key frame, with the configuration in force there. */
void live_consumer_start(struct live_consumer *c, int64_t dts);
/* Counts packets that it skipped because it was too slow. */
void live_consumer_drop(struct live_consumer *c, uint64_t packets);
struct live_block *live_block_ref(struct live_block *b);
/* Returns NULL. */
struct live_block *live_block_unref(struct live_source *src, struct live_block *b);

/* Returns the oldest packet that some reader has not read, or src->head. */
uint64_t live_readers_oldest(const struct live_source *src);
void live_readers_end(struct live_source *src);

bool live_configs_set(struct live_configs *c, const struct av_packet *pkt, bool keep_same);
/* Returns the configuration that this packet replaces; NULL if there is none or it is not a
 * configuration. */
const struct av_packet *live_configs_before(const struct live_configs *c,
                                            const struct av_packet *pkt);
struct live_configs *live_configs_snapshot(const struct live_configs *from);
struct live_configs *live_configs_ref(struct live_configs *c);
struct live_configs *live_configs_unref(struct live_configs *c); /* always NULL; NULL is fine */
void live_configs_clear(struct live_configs *c);

#endif
