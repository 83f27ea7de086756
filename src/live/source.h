/* SPDX-License-Identifier: MIT */
/* source.h - a live stream: one publisher, any number of consumers.
 *
 * The source is an append-only log of packets with sequence numbers, corrected in time once. A
 * wire (wire.h) is what one format makes of the log, rendered once for all its players; a
 * consumer (consumer.h) is a cursor into a wire. So the cache of the current group of pictures,
 * every player's queue and the policy for slow players are this one structure, and to publish a
 * packet costs the same for 1 player and for 10,000. The publisher waits for nobody.
 *
 * Nothing here yields. All of it belongs to one coroutine thread.
 */
#ifndef LIVE_SOURCE_H
#define LIVE_SOURCE_H

#include "av/packet.h"
#include "base/err.h"
#include "co/co.h"
#include "live/settings.h"

struct live_source;   /* shared: whoever holds one has a reference */
struct live_registry; /* all sources of a server by name; owned by the server */

enum { LIVE_PROOF = 32 };

/* Who publishes: the publisher's own memory, valid from begin to end. */
struct live_publisher {
    struct co *co;     /* the coroutine to stop when another one takes over */
    const char *ip;    /* of the peer */
    co_usec active_at; /* when it last sent something; the publisher keeps it up to date */
    bool replaced;     /* another one took over: end without a word to the source */
    /* A digest of what it showed to be let in, if somebody asked for it: whoever shows the same is
     * the same. */
    bool has_proof;
    uint8_t proof[LIVE_PROOF];
};

/* When a publisher comes for a stream that has one. */
enum live_takeover_mode {
    LIVE_TAKEOVER_OFF,   /* it is refused: ERR_STREAM_BUSY */
    LIVE_TAKEOVER_STALE, /* the old one goes if it is silent, or the new one has its proof */
    LIVE_TAKEOVER_ON,    /* the old one goes */
};

/* An address is no proof: many publishers may be behind one. It only makes the silence shorter. */
struct live_takeover {
    enum live_takeover_mode mode;
    co_usec silence;      /* what is long */
    co_usec silence_near; /* and to one of the same address */
};

/* What a source did so far: the same for 1 player and for 1,000. */
struct live_work {
    uint64_t packets;  /* pushed */
    uint64_t rendered; /* packets, once for each wire */
    uint64_t blocks;   /* of wires, allocated */
    uint64_t wakes;    /* of parked players */
};

struct live_source_stat {
    uint64_t in_packets, in_bytes, out_bytes;
    uint64_t video_packets, audio_packets, keys;
    uint64_t dropped; /* packets that players were too slow for, all of them together */
    unsigned consumers;
    size_t log_packets, log_bytes, wire_bytes;
    enum av_codec video, audio; /* AV_CODEC_NONE before the first packet */
    co_usec shown_for; /* how long the publisher has shown what it has, by its time or ours, from
                        * its first key frame on; -1: none came yet */
    int64_t key_interval;       /* between the last two key frames, 1/90000 s; 0: not known */
    bool publishing;
    bool replica; /* its publisher, and what came in, is its home's (tap.h) */
    struct live_work work;
};

struct live_registry *live_registry_new(void);
void live_registry_free(struct live_registry *r); /* sources may outlive it, unlisted */
/* The source of that name ("vhost/app/stream"), made if there is none; with a reference for the
 * caller. It is freed with its last reference. Settings count for a source that is made. */
struct live_source *live_registry_get(struct live_registry *r, const char *name,
                                      const struct live_settings *set);
struct live_source *live_registry_find(struct live_registry *r, const char *name); /* or NULL */
/* What the logs and wires of all its sources may take together, in bytes; 0: no limit. A
 * packet over it makes the largest streams lose their oldest ones. */
void live_registry_limit(struct live_registry *r, size_t bytes);
/* The same for its part of a limit that several have; set anew now and then. */
void live_registry_part(struct live_registry *r, size_t bytes);
/* What they take now, as much as that is known: packets, bytes of wires, also those that only slow
 * players still hold. */
struct live_memory {
    size_t used, limit;
    uint64_t squeezed, squeezed_bytes; /* times that a stream lost packets, and how much */
};
const struct live_memory *live_registry_memory(const struct live_registry *r);
/* What others keep of streams counts with it: they add and subtract here. What could give
 * something back is a keeper (keeper.h). */
size_t *live_registry_counter(struct live_registry *r);
size_t live_registry_count(const struct live_registry *r);
/* Walk all sources: next(r, NULL) is the first. Not across a yield. */
struct live_source *live_registry_next(struct live_registry *r, struct live_source *src);
/* For a walk that yields: all sources there are now, each with a reference, as malloc'ed array. */
struct live_source **live_registry_all(struct live_registry *r, size_t *n);

struct live_source *live_source_new(const char *name, const struct live_settings *set);
struct live_source *live_source_ref(struct live_source *src);
struct live_source *live_source_unref(struct live_source *src); /* always NULL; NULL is fine */
/* The caller's reference is the only one. */
bool live_source_alone(const struct live_source *src);
const char *live_source_name(const struct live_source *src);
/* What those above keep with a source, one thing, freed with it: free(data) is called while the
 * source is still whole. */
struct live_user_data {
    void (*free)(struct live_user_data *data);
};
void live_source_set_user_data(struct live_source *src, struct live_user_data *data);
struct live_user_data *live_source_user_data(const struct live_source *src); /* or NULL */
/* A replica takes what its home has published so far. Call it before describing a stream; readers
 * and senders do it by themselves. */
void live_source_refresh(struct live_source *src);
/* Decoder configuration and metadata in force now, borrowed until the next yield; how many. */
enum { LIVE_CONFIGS = 24 }; /* at most, of all kinds and tracks */
size_t live_source_configs(const struct live_source *src, const struct av_packet **out,
                           size_t max);
/* Settings changed by a reload: they count from the next packet on. */
void live_source_settings(struct live_source *src, const struct live_settings *set);
struct live_settings live_source_set(const struct live_source *src); /* those that count now */
void live_source_stat(const struct live_source *src, struct live_source_stat *out);
bool live_source_publishing(const struct live_source *src);
/* Somebody takes packets of the log, here or at a replica: players by its wires, readers. */
bool live_source_is_read(const struct live_source *src);
/* When about a packet of that stamp came, or will: the newest one and the distance to it. */
co_usec live_source_came(const struct live_source *src, int64_t dts);
/* Where its packets are to be made: for av_packet_try_in(), while the source is there. */
struct bump *live_source_packets(struct live_source *src);
/* The coroutine that calls pushes packets from now on; see co_prefetch(), of which this is number
 * n. */
void live_source_prefetch(const struct live_source *src, unsigned n);
/* So many players came (or went, if it is negative) who are sent something of their own making, by
 * readers: they count as consumers do. */
void live_source_players(struct live_source *src, int more);
/* And were sent so many bytes, and so many packets less than they should. */
void live_source_sent(struct live_source *src, uint64_t bytes, uint64_t dropped);
/* Since when nobody plays, here or at a replica; 0 while somebody does. */
co_usec live_source_idle_since(const struct live_source *src);

/* Become the publisher. ERR_STREAM_BUSY when there is one that does not give way; one that does has
 * p->replaced set and its coroutine stopped (ERR_REPLACED). Players stay, and time goes on. */
err_t live_source_begin(struct live_source *src, struct live_publisher *p,
                        const struct live_takeover *rule);
/* One that must ask others first whether it may keeps the place for itself meanwhile: claim, ask,
 * then begin or unclaim. ERR_STREAM_BUSY as of begin; the stream's publisher goes on. A claim gives
 * way to another by the same rules, but for the address, and is then stopped as a publisher is. */
err_t live_source_claim(struct live_source *src, struct live_publisher *p,
                        const struct live_takeover *rule) __attribute__((warn_unused_result));
/* How long until the place is free for this one, if its publisher sends nothing more: 0 now,
 * CO_FOREVER when that one is of another address, or never gives way. */
co_usec live_source_wait(const struct live_source *src, const struct live_publisher *p,
                         const struct live_takeover *rule);
void live_source_unclaim(struct live_source *src, struct live_publisher *p);
/* Append a packet that its publisher stamped with `ticks`: 1/90000 s from wherever its clock began,
 * without wraps. dts is set here; from now on the packet is immutable. Takes a reference of its
 * own. */
void live_source_push(struct live_source *src, struct av_packet *pkt, int64_t ticks);
void live_source_end(struct live_source *src, struct live_publisher *p);
/* Ask its publisher to end, if there is one; takes the reason over. */
void live_source_kick(struct live_source *src, err_t why);

long live_source_live(void); /* sources alive now: tests assert 0; of this thread */

#endif
