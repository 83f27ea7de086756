/* SPDX-License-Identifier: MIT */
/* feed.h - a source of bytes with its own clock that a sender sends instead of a live stream, such
 * as a file, in which each player has its own position.
 *
 * The sender works the same: it merges writes, takes turns from a timer, waits for the peer's
 * window, pauses and stops. A feed returns the bytes to send now, including its start (head of the
 * file, decoder configuration).
 */
#ifndef LIVE_FEED_H
#define LIVE_FEED_H

#include "av/codec.h"
#include "co/co.h"

#include <sys/uio.h>

struct live_feed;

enum { LIVE_FEED_VIDEO, LIVE_FEED_AUDIO, LIVE_FEED_TRACKS };

/* File and position of a player, for lists of clients. Pointers are valid until the next yield. */
struct live_feed_info {
    const char *name;            /* name of the file */
    co_usec position, duration;
    int scale;                   /* playback speed, thousandths */
    unsigned kbps;               /* approximate bit rate of the file */
    co_usec turn;                /* the best merge time, approximately */
    struct live_feed_track {
        enum av_codec codec;     /* AV_CODEC_NONE: no such track */
        const uint8_t *config;
        size_t config_size;
    } tracks[LIVE_FEED_TRACKS];
};

/* Nothing here yields: turns are taken from timers. */
struct live_feed_kind {
    /* Returns true if the next turn, when due, has something to send. False: only after
     * on_more(). */
    bool (*ready)(const struct live_feed *f);
    /* Returns the bytes to send now in at most `max` ranges, valid until the next call of any of
     * these functions. 0: nothing yet by its clock, it waits for a disk, or it has ended. */
    int (*ranges)(struct live_feed *f, struct iovec *iov, int max);
    void (*advance)(struct live_feed *f, size_t sent);
    /* Returns true if everything is sent or it cannot continue: the sender is done. */
    bool (*ended)(const struct live_feed *f);
    /* Returns how far the next byte is behind its clock. */
    co_usec (*lag)(const struct live_feed *f);
    /* Returns the approximate number of frames that are due by its clock and not sent yet. */
    uint64_t (*pending)(const struct live_feed *f);
    void (*paused)(struct live_feed *f, bool paused); /* stops its clock, or starts it again */
    /* Fills *out; returns false if there is nothing to report now. NULL: never. */
    bool (*describe)(const struct live_feed *f, struct live_feed_info *out);
};

struct live_feed {
    const struct live_feed_kind *kind;
    /* Set while a sender waits for the feed; call it when the feed may be ready, but not from the
     * functions above. NULL: no sender waits. */
    void (*on_more)(struct live_feed *f, void *arg);
    void *arg;
};

#endif
