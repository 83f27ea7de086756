/* SPDX-License-Identifier: MIT */
/* policy.h - rules: how much a stream keeps, where a player starts, and where a late player
 * continues.
 *
 * All such rules are functions of a few numbers here. The log (source.c), wires and cursors call
 * them; those for each packet are inline. Age always means time since arrival. So a file that is
 * published at full speed is kept as long as the video of a camera, within max_bytes.
 */
#ifndef LIVE_POLICY_H
#define LIVE_POLICY_H

#include "av/packet.h"
#include "co/co.h"
#include "live/settings.h"

/* ---- where a player may start */

struct live_kinds { /* tracks of the stream that are known so far */
    bool video, audio;
    uint16_t key_track; /* the first video track: only its key frames count */
};

/* Returns true if a player may start at the packet. `since_key`: time since the last such packet,
 * 1/90000 s; INT64_MAX: there is none. A stream with only audio has a start every half a second, or
 * every audio_cache. */
bool live_policy_starts(struct live_kinds *seen, const struct av_packet *pkt, int64_t since_key,
                        const struct live_settings *set);

/* ---- when packets came */

enum { LIVE_AGES = 8 };

struct live_ages { /* marks: all packets before `seq` arrived before `at` */
    unsigned newest;
    struct live_age {
        uint64_t seq;
        co_usec at;
    } marks[LIVE_AGES];
};

/* Records that packet `head` arrives now; call it for each packet. There are four marks per
 * queue_length, so the oldest of the eight is older than that. */
static inline void live_ages_mark(struct live_ages *a, uint64_t head, co_usec now,
                                  co_usec queue_length)
{
    if (now - a->marks[a->newest].at < queue_length / 4)
        return;
    a->newest = (a->newest + 1) % LIVE_AGES;
    a->marks[a->newest] = (struct live_age){ .seq = head, .at = now };
}
/* Returns a packet: those before it arrived longer than queue_length ago, or up to a quarter
 * longer. */
uint64_t live_ages_young(const struct live_ages *a, co_usec now, co_usec queue_length);

/* ---- how much is kept */

struct live_kept { /* the log of a stream */
    uint64_t first, head; /* the oldest packet, and the next one to arrive */
    uint64_t key;         /* the newest packet to start at, if have_key */
    bool have_key;
    uint64_t unread;      /* the oldest packet that some reader has not read, or head */
    uint64_t young;       /* live_ages_young() */
    size_t bytes;
    uint32_t gop_frames;  /* frames since key */
};

/* Returns true if the oldest packet must leave the log: a joining player does not need it, and all
 * readers have read it, or it is too old or the log too large to wait for them. */
static inline bool live_policy_drops(const struct live_kept *log, const struct live_settings *set)
{
    uint64_t keep = log->have_key && set->gop_cache ? log->key : log->head;

    return log->first < keep && (log->first < log->unread || log->bytes > set->max_bytes ||
                                 log->first < log->young);
}

/* Returns true if the GOP is larger than the cache allows: no player can start until the next
 * one. */
static inline bool live_policy_forgets(const struct live_kept *log, const struct live_settings *set)
{
    if (!set->gop_cache || !log->have_key)
        return false;
    return log->bytes > set->max_bytes ||
           (set->gop_cache_max_frames && log->gop_frames > set->gop_cache_max_frames);
}

struct live_kept_block { /* the oldest block of a wire */
    bool has_key; /* the newest key frame is in it */
    bool in_use;  /* a cursor is in it */
    co_usec age;  /* age of its newest packet */
    size_t bytes; /* bytes of all blocks of the wire */
};

bool live_policy_drops_block(const struct live_kept_block *b, const struct live_settings *set);

/* ---- where a cursor goes */

enum live_position {
    LIVE_GO_ON,  /* the oldest packet, which directly follows the last one it sent */
    LIVE_AT_KEY, /* the newest key frame */
    LIVE_WAIT,   /* the next key frame that arrives */
};

struct live_span { /* the range of a log or a wire */
    uint64_t first; /* the oldest packet */
    uint64_t key;
    bool have_key;
    uint64_t head;  /* the next packet to arrive */
};

/* Decides where a joining player starts. True: at the newest key frame; false: at the head, where
 * it waits for the next one. `cached`: it may start in the past. */
bool live_policy_join(const struct live_span *span, bool cached, uint64_t *at);
/* Decides where a cursor continues whose next packet `at` may have left the log. */
enum live_position live_policy_late(const struct live_span *span, uint64_t at);

/* ---- wires over datagrams, whose packets may be retransmitted */

/* A browser plays old media as fast as they arrive, so it joins at a key frame only if that is this
 * young and at most this many bytes follow it. */
#define LIVE_PREFETCH CO_SECONDS(3)
enum { LIVE_PREFETCH_BYTES = 1500000 };

struct live_retained { /* the log of such a wire */
    uint64_t head;
    uint64_t key, key_before; /* the newest key frame, and the one before it */
    bool have_key;
    co_usec key_age;          /* time since the newest one arrived */
    bool played;              /* it has players */
};
/* Returns the oldest packet that joining players, or players that have just joined, need. `near`:
 * they join only at key frames younger than LIVE_PREFETCH. */
uint64_t live_policy_retains(const struct live_retained *log, const struct live_settings *set,
                             bool near);

#endif
