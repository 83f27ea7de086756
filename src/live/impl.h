/* SPDX-License-Identifier: MIT */
/* impl.h - the insides of a source, shared by the files of live/ alone. */
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

/* Configuration in force: the newest packet of each kind and track. The source's own changes as
 * packets come; a snapshot of it, as it was at a key frame, is shared and does not. */
struct live_configs {
    struct ref ref; /* of a snapshot */
    uint8_t n;
    const struct av_packet *v[LIVE_CONFIGS];
};

struct live_block {
    struct ref ref;          /* the wire's, and one of each cursor in it */
    bool detached;           /* too old: no longer part of its wire */
    uint32_t used, cap;      /* bytes in data */
    uint32_t n, ends_cap;    /* packets, and the size of `ends` */
    uint32_t *ends;          /* where each packet ends */
    uint64_t seq;            /* of the first packet */
    co_usec begun_at, newest_at;
    struct live_block *next; /* of the wire; no reference */
    uint8_t data[];
};

struct live_wire {
    struct live_wire *next; /* of the source */
    struct live_source *src;
    const struct live_format *fmt;
    uint32_t param[LIVE_PARAMS];
    unsigned consumers;
    struct live_consumer *waiting; /* those without a place: the next key frame is theirs */
    struct live_block *first, *last;
    uint64_t head; /* the log before this one is rendered; not the source's: it lags */
    size_t bytes;  /* of all blocks in the list, as allocated */
    struct live_block *key_block; /* where the newest key frame is; NULL: nowhere to start */
    uint32_t key_offset;
    uint64_t key_seq;
    uint32_t next_size; /* of the next block, all of it: by region_fit() */
    void *state;       /* of a format that remembers */
    struct wr made;    /* what it makes of a packet, on the way into a block */
};

struct live_registry {
    struct table sources; /* by name */
    struct live_memory memory;
    struct live_evictable *keepers;
    size_t alarm;    /* above so much memory the source that grew calls squeeze() */
    void (*squeeze)(struct live_registry *r); /* makes the largest streams drop packets */
    bool part;       /* of a limit that several registries have */
    co_usec logged_at;
};

struct live_source {
    /* What every packet touches, together: with a thousand publishers none of it is in a cache. */
    struct ref ref;
    uint32_t cap;                  /* of the ring: a power of two, or 0 */
    const struct av_packet **ring; /* packet seq is at seq % cap */
    uint64_t first, head;          /* the oldest kept, and the next one to come */
    size_t bytes, charged;         /* of the packets kept, with what each costs beside its data */
    size_t memory;                 /* that, its configurations, and all blocks of its wires */
    struct live_registry *registry;
    struct bump *packets;          /* where they are made; NULL before the first publisher */
    uint64_t key;                  /* the newest key frame, if have_key */
    bool have_key;
    struct live_kinds kinds;
    uint32_t gop_frames;
    struct live_mix *mix; /* while mix_correct is on */
    struct live_wire *wires;
    struct live_reader *readers;
    struct live_tap *taps; /* to its replicas */
    struct live_tap *tap;  /* it is a replica: what comes, comes by this one */
    bool followed;         /* and there is a publisher, at home */
    struct live_consumer *parked, **parked_end; /* by wake_seq */
    struct live_ages ages;
    uint64_t in_packets, in_bytes;
    uint64_t video_packets, audio_packets;
    enum av_codec video, audio;
    co_usec shown_at;  /* when the publisher's first key frame came; 0: not yet */
    int64_t shown_dts; /* of that one */
    struct live_track_waiter *waiters; /* track_events.h */
    struct live_settings set;
    struct live_work work;
    struct live_clock clock;

    struct table_link link;       /* in the registry */
    char *name;
    struct live_publisher *publisher;
    struct live_publisher *claim; /* the next one, if it is let in */
    size_t config_bytes;
    int64_t key_dts, key_interval;
    struct live_configs configs;       /* in force at head */
    struct live_configs *key_configs;  /* at key; NULL without one */
    uint64_t configs_seq, key_configs_seq; /* when they were last made */
    struct live_changes changes;
    struct co_task wake;                   /* calls those parked that are due */
    unsigned consumers;
    co_usec idle_since;
    uint64_t out_bytes, keys;
    uint64_t dropped; /* by all consumers there ever were */
    struct live_user_data *user_data;
};

/* What a packet of the log takes: small ones are mostly this. */
static inline size_t live_packet_cost(const struct av_packet *pkt)
{
    return sizeof(*pkt) + sizeof(pkt) + pkt->size;
}

/* Call those parked that are due, and raise those taps that are: soon after. */
void live_source_wake_soon(struct live_source *src);
static inline bool live_source_is_due(const struct live_source *src)
{
    return src->parked && src->parked->wake_seq <= src->head;
}
/* What the log takes counts anew: all that a packet changed in it, at once. */
void live_source_charge_log(struct live_source *src);
/* A wire that lagged, or a reader, needs the log no more. */
void live_source_was_read(struct live_source *src);
/* Drop the older half of log and wires; gives how many bytes. Blocks that a player is in stay
 * until it moves. */
size_t live_source_halve(struct live_source *src);
size_t live_source_droppable(const struct live_source *src);

/* The source has so many bytes more, or less. */
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

/* Of a replica: what the tap brings. Time and order were corrected at home, where it was said
 * whether a player may start at it, too. `again`: configuration that was sent before, perhaps.
 * Takes a reference of its own. */
void live_source_follow(struct live_source *src, const struct av_packet *pkt, bool again);
void live_source_follow_begin(struct live_source *src); /* the home has a publisher */
void live_source_follow_end(struct live_source *src);   /* it has none any more */

/* Taps, called by their home ... */
void live_taps_put(struct live_source *src, const struct av_packet *pkt, co_usec now);
void live_taps_begin(struct live_source *src);
void live_taps_end(struct live_source *src);
void live_taps_raise(struct live_source *src);
/* What log and taps keep together, which is mostly the same packets. */
size_t live_taps_kept(const struct live_source *src);
/* ... and by a replica. False: there is more, it goes on by itself. */
bool live_tap_pull(struct live_source *src);
void live_tap_request(struct live_source *src);   /* somebody is parked now, first of all */
void live_tap_unwant(struct live_source *src); /* that one is not parked any more */

/* Moves what waits in the tap of a replica into its log. The caller holds no packet or range of the
 * log without a reference. */
static inline void live_source_pull(struct live_source *src)
{
    if (src->tap)
        (void)live_tap_pull(src);
}

/* A coroutine that waits for track events, on its stack. */
struct live_track_waiter {
    struct co *co;
    struct live_track_waiter *next, **prev;
};

/* They run later, when the packet is in the log. */
static inline void live_track_events_signal(struct live_source *src)
{
    for (struct live_track_waiter *w = src->waiters; w; w = w->next)
        co_unpark(w->co);
}

/* Wires, called by the source. */
struct live_wire *live_wire_get(struct live_source *src, const struct live_format *fmt,
                                const uint32_t param[LIVE_PARAMS], co_usec now);
void live_wire_put(struct live_wire *w); /* one consumer less */
/* The packet that comes to the head of the log now. */
void live_wire_push(struct live_wire *w, const struct av_packet *pkt, bool key, co_usec now);
static inline bool live_wire_lags(const struct live_wire *w)
{
    return w->head != w->src->head;
}
/* Render some more, for a player that came to the end of one that lags. */
void live_wire_more(struct live_wire *w, co_usec now);
void live_wire_forget_key(struct live_wire *w);
void live_wire_shrink(struct live_wire *w, size_t bytes);
/* The consumer's place from now on; b is NULL: it waits for a key frame. */
void live_consumer_seek(struct live_consumer *c, struct live_block *b, uint32_t offset);
/* It starts at the newest key frame: with the configuration in force there. */
void live_consumer_start(struct live_consumer *c, int64_t dts);
/* It was too slow for so many packets. */
void live_consumer_drop(struct live_consumer *c, uint64_t packets);
struct live_block *live_block_ref(struct live_block *b);
/* Always NULL. */
struct live_block *live_block_unref(struct live_source *src, struct live_block *b);

/* Readers: the oldest packet that one of them has not read, or src->head. */
uint64_t live_readers_oldest(const struct live_source *src);
void live_readers_end(struct live_source *src);

bool live_configs_set(struct live_configs *c, const struct av_packet *pkt, bool keep_same);
/* The configuration that this one takes the place of; NULL: none, or it is no configuration. */
const struct av_packet *live_configs_before(const struct live_configs *c,
                                            const struct av_packet *pkt);
struct live_configs *live_configs_snapshot(const struct live_configs *from);
struct live_configs *live_configs_ref(struct live_configs *c);
struct live_configs *live_configs_unref(struct live_configs *c); /* always NULL; NULL is fine */
void live_configs_clear(struct live_configs *c);

#endif
