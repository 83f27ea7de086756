/* SPDX-License-Identifier: MIT */
/* policy.h - what a stream keeps, where a player may start, and where one goes on that is too late.
 *
 * All such rules are here, as functions of a few numbers; log (source.c), wires and cursors ask
 * them; those for each packet are inline. There is one clock for what is old: when it came. So a
 * file that is published at full speed is kept as long as a camera's picture, as far as max_bytes
 * allows.
 */
#ifndef LIVE_POLICY_H
#define LIVE_POLICY_H

#include "av/packet.h"
#include "co/co.h"
#include "live/settings.h"

/* ---- where a player may start */

struct live_kinds { /* what the stream has, as far as it is known */
    bool video, audio;
    uint16_t key_track; /* the first one of video: its key frames count */
};

/* Is the packet a place to start at? `since_key`: how long after the last such one, 1/90000 s;
 * INT64_MAX: there is none. Sound alone has a place every half a second, or every audio_cache. */
bool live_policy_starts(struct live_kinds *seen, const struct av_packet *pkt, int64_t since_key,
                        const struct live_settings *set);

/* ---- when packets came */

enum { LIVE_AGES = 8 };

struct live_ages { /* marks: all packets before `seq` came before `at` */
    unsigned newest;
    struct live_age {
        uint64_t seq;
        co_usec at;
    } marks[LIVE_AGES];
};

/* Packet `head` comes next; call it for each. Four marks to a queue_length: the oldest of eight is
 * older than that. */
static inline void live_ages_mark(struct live_ages *a, uint64_t head, co_usec now,
                                  co_usec queue_length)
{
    if (now - a->marks[a->newest].at < queue_length / 4)
        return;
    a->newest = (a->newest + 1) % LIVE_AGES;
    a->marks[a->newest] = (struct live_age){ .seq = head, .at = now };
}
/* Packets before this one came longer than queue_length ago, by a quarter of it at most. */
uint64_t live_ages_young(const struct live_ages *a, co_usec now, co_usec queue_length);

/* ---- what is kept */

struct live_kept { /* the log of a stream */
    uint64_t first, head; /* the oldest packet, and the one to come */
    uint64_t key;         /* the newest place to start at, if there is one */
    bool have_key;
    uint64_t unread;      /* the oldest that somebody has not seen yet, or head */
    uint64_t young;       /* live_ages_young() */
    size_t bytes;
    uint32_t gop_frames;  /* since key */
};

/* The oldest packet leaves the log: a player that joins does not need it, and it was seen, or is
 * too old or too much to wait for those that have not. */
static inline bool live_policy_drops(const struct live_kept *log, const struct live_settings *set)
{
    uint64_t keep = log->have_key && set->gop_cache ? log->key : log->head;

    return log->first < keep && (log->first < log->unread || log->bytes > set->max_bytes ||
                                 log->first < log->young);
}

/* The group of pictures is longer than may be cached: nobody can start until the next one. */
static inline bool live_policy_forgets(const struct live_kept *log, const struct live_settings *set)
{
    if (!set->gop_cache || !log->have_key)
        return false;
    return log->bytes > set->max_bytes ||
           (set->gop_cache_max_frames && log->gop_frames > set->gop_cache_max_frames);
}

struct live_kept_block { /* the oldest one of a wire */
    bool has_key; /* the newest key frame is in it */
    bool in_use;  /* a cursor is in it */
    co_usec age;  /* of its newest packet */
    size_t bytes; /* of all blocks of the wire */
};

bool live_policy_drops_block(const struct live_kept_block *b, const struct live_settings *set);

/* ---- where a cursor goes */

enum live_place {
    LIVE_GO_ON,  /* the oldest packet there is, which follows what it had */
    LIVE_AT_KEY, /* the newest key frame */
    LIVE_WAIT,   /* the next key frame to come */
};

struct live_span { /* of a log or a wire */
    uint64_t first; /* the oldest packet */
    uint64_t key;
    bool have_key;
    uint64_t head;  /* the packet to come */
};

/* Where a player that joins starts. True: at the newest key frame; false: at the head, where it
 * waits for the next one. `cached`: it may begin in the past. */
bool live_policy_join(const struct live_span *span, bool cached, uint64_t *at);
/* Of one whose next packet would be `at`, which may have left. */
enum live_place live_policy_late(const struct live_span *span, uint64_t at);

/* ---- wires over datagrams, whose packets may be retransmitted */

/* A browser plays what is old as fast as it comes, so it joins at a key frame only if that is this
 * young and this much follows it. */
#define LIVE_PREFETCH CO_SECONDS(3)
enum { LIVE_PREFETCH_BYTES = 1500000 };

struct live_retained { /* the log of such a wire */
    uint64_t head;
    uint64_t key, key_before; /* the newest key frame, and the one before it */
    bool have_key;
    co_usec key_age;          /* since the newest one came */
    bool played;              /* there are players */
};
/* The oldest packet that players which join, or have just joined, need. `near`: they join only at
 * key frames younger than LIVE_PREFETCH. */
uint64_t live_policy_retains(const struct live_retained *log, const struct live_settings *set,
                             bool near);

#endif
