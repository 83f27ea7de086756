/* SPDX-License-Identifier: MIT */
/* source.h - a live stream: one publisher, any number of consumers.
 *
 * The source is an append-only log of packets with sequence numbers and corrected times. A wire
 * (wire.h) is the log rendered in one format, once for all its players; a consumer (consumer.h) is
 * a cursor into a wire. So this one structure is the GOP cache, the queue of each player and the
 * policy for slow players, and publishing a packet costs the same for 1 player and for 10,000. The
 * publisher never waits.
 *
 * Nothing here yields. All of it belongs to one coroutine thread.
 */
#ifndef LIVE_SOURCE_H
#define LIVE_SOURCE_H

#include "av/packet.h"
#include "base/err.h"
#include "co/co.h"
#include "live/settings.h"

struct live_source;   /* shared: each holder has a reference */
struct live_registry; /* all sources of a server by name; owned by the server */

enum { LIVE_PROOF = 32 };

/* A publisher; in its own memory, valid from begin to end. */
struct live_publisher {
    struct co *co;     /* the coroutine to stop when another publisher takes over */
    const char *ip;    /* address of the peer */
    co_usec active_at; /* last time it received data; updated by the publisher */
    bool replaced;     /* another publisher took over: end without live_source_end() */
    /* A digest of the credentials with which it was admitted, if any were required: the same digest
     * means the same publisher. */
    bool has_proof;
    uint8_t proof[LIVE_PROOF];
};

/* Rule for a second publisher that arrives. */
enum live_takeover_mode {
    LIVE_TAKEOVER_OFF,   /* the new one is refused: ERR_STREAM_BUSY */
    LIVE_TAKEOVER_STALE, /* the old one is stopped if it is silent or the new one has its proof */
    LIVE_TAKEOVER_ON,    /* the old one is stopped */
};

/* An address proves nothing, because many publishers may share it. It only shortens the silence. */
struct live_takeover {
    enum live_takeover_mode mode;
    co_usec silence;      /* how long the old publisher must be silent */
    co_usec silence_near; /* the same for a publisher of the same address */
};

/* Work of a source so far, independent of the number of players. */
struct live_work {
    uint64_t packets;  /* packets pushed */
    uint64_t rendered; /* packets rendered, counted per wire */
    uint64_t blocks;   /* allocated blocks of wires */
    uint64_t wakes;    /* wakes of parked players */
};

struct live_source_stat {
    uint64_t in_packets, in_bytes, out_bytes;
    uint64_t video_packets, audio_packets, keys;
    uint64_t dropped; /* packets skipped by slow players, all together */
    unsigned consumers;
    size_t log_packets, log_bytes, wire_bytes;
    enum av_codec video, audio; /* AV_CODEC_NONE before the first packet */
    /* time since the publisher's first key frame, by its clock or ours, whichever is more; -1: none
     * yet */
    co_usec shown_for;
    int64_t key_interval;       /* between the last two key frames, 1/90000 s; 0: unknown */
    bool publishing;
    bool replica; /* the publisher and the input counters are the owner worker's (tap.h) */
    struct live_work work;
};

struct live_registry *live_registry_new(void);
void live_registry_free(struct live_registry *r); /* sources may outlive it, unlisted */
/* Returns the source of that name ("vhost/app/stream"), created with these settings if there is
 * none, with a reference for the caller. It is freed with its last reference. */
struct live_source *live_registry_get(struct live_registry *r, const char *name,
                                      const struct live_settings *set);
struct live_source *live_registry_find(struct live_registry *r, const char *name); /* or NULL */
/* Limits the memory of the logs and wires of all its sources, in bytes; 0: no limit. A packet over
 * the limit makes the largest streams drop their oldest packets. */
void live_registry_limit(struct live_registry *r, size_t bytes);
/* The same for its share of a limit of several registries; updated periodically. */
void live_registry_part(struct live_registry *r, size_t bytes);
/* Memory in use, approximately: packets and bytes of wires, including those that only slow players
 * hold. */
struct live_memory {
    size_t used, limit;
    /* how often streams dropped packets for the limit, and how many bytes */
    uint64_t squeezed, squeezed_bytes;
};
const struct live_memory *live_registry_memory(const struct live_registry *r);
/* Returns the counter to which other users of memory for streams add and subtract. Data that can be
 * dropped is evictable (evictable.h). */
size_t *live_registry_counter(struct live_registry *r);
size_t live_registry_count(const struct live_registry *r);
/* Walks all sources: next(r, NULL) is the first. Do not yield during the walk. */
struct live_source *live_registry_next(struct live_registry *r, struct live_source *src);
/* For a walk that yields: returns all current sources, each with a reference, as a malloc'ed
 * array. */
struct live_source **live_registry_all(struct live_registry *r, size_t *n);

struct live_source *live_source_new(const char *name, const struct live_settings *set);
struct live_source *live_source_ref(struct live_source *src);
struct live_source *live_source_unref(struct live_source *src); /* always NULL; NULL is fine */
/* Returns true if the caller's reference is the only one. */
bool live_source_is_only_ref(const struct live_source *src);
const char *live_source_name(const struct live_source *src);
/* Data that an upper layer attaches to a source, freed with it: free(data) is called while the
 * source is still valid. */
struct live_user_data {
    void (*free)(struct live_user_data *data);
};
void live_source_set_user_data(struct live_source *src, struct live_user_data *data);
struct live_user_data *live_source_user_data(const struct live_source *src); /* or NULL */
/* Makes a replica take everything that its owner worker has published so far. Call it before you
 * describe a stream; readers and senders do it automatically. */
void live_source_refresh(struct live_source *src);
/* Returns the number of configuration and metadata packets in force, borrowed until the next
 * yield. */
enum { LIVE_CONFIGS = 24 }; /* maximum number, of all kinds and tracks */
size_t live_source_configs(const struct live_source *src, const struct av_packet **out,
                           size_t max);
/* Changes the settings after a reload, from the next packet on. */
void live_source_settings(struct live_source *src, const struct live_settings *set);
struct live_settings live_source_set(const struct live_source *src); /* settings in force */
void live_source_stat(const struct live_source *src, struct live_source_stat *out);
bool live_source_publishing(const struct live_source *src);
/* Returns true if wires with players or readers take packets of the log, here or at a replica. */
bool live_source_is_read(const struct live_source *src);
/* Estimates when a packet with this time stamp arrived or will arrive, from the newest packet. */
co_usec live_source_came(const struct live_source *src, int64_t dts);
/* Returns the allocator of its packets, for av_packet_try_in(); valid as long as the source. */
struct bump *live_source_packets(struct live_source *src);
/* Tells the scheduler that the calling coroutine pushes packets to it from now on, as prefetch hint
 * number n of co_prefetch(). */
void live_source_prefetch(const struct live_source *src, unsigned n);
/* Adds players (or removes them, if negative) that readers serve with their own format: they count
 * like consumers. */
void live_source_players(struct live_source *src, int more);
/* Adds bytes sent to them, and packets that they skipped. */
void live_source_sent(struct live_source *src, uint64_t bytes, uint64_t dropped);
/* Returns the time since which no one plays, here or at a replica; 0 while there are players. */
co_usec live_source_idle_since(const struct live_source *src);

/* Becomes the publisher. ERR_STREAM_BUSY: the current publisher does not give way. Otherwise sets
 * the old publisher's `replaced` and stops its coroutine (ERR_REPLACED). Players stay, and time
 * continues. */
err_t live_source_begin(struct live_source *src, struct live_publisher *p,
                        const struct live_takeover *rule);
/* Reserves the stream for a publisher that still waits for its authorization: call claim,
 * authorize, then begin or unclaim. ERR_STREAM_BUSY as for begin; the current publisher continues.
 * A claim gives way to another one by the same rules, except those of addresses, and is then
 * stopped like a publisher. */
err_t live_source_claim(struct live_source *src, struct live_publisher *p,
                        const struct live_takeover *rule) __attribute__((warn_unused_result));
/* Returns how long until this publisher may begin if the current one sends nothing more: 0 for now,
 * CO_FOREVER if that one has another address or never gives way. */
co_usec live_source_wait(const struct live_source *src, const struct live_publisher *p,
                         const struct live_takeover *rule);
void live_source_unclaim(struct live_source *src, struct live_publisher *p);
/* Appends a packet with the publisher's time stamp `ticks`: 1/90000 s from any start, without
 * wraps. Sets dts; the packet is immutable afterwards. Takes a reference of its own. */
void live_source_push(struct live_source *src, struct av_packet *pkt, int64_t ticks);
void live_source_end(struct live_source *src, struct live_publisher *p);
/* Stops its publisher, if there is one; takes ownership of the reason. */
void live_source_kick(struct live_source *src, err_t why);

long live_source_live(void); /* sources of this thread that are not freed; tests assert 0 */

#endif
