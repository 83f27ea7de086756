/* SPDX-License-Identifier: MIT */
/* feed.h - what a sender sends instead of a live stream: something with a clock of its own, such as
 * a file that each player has its own place in.
 *
 * The sender is the same: it merges, takes turns from a timer, waits for windows, is paused and is
 * stopped. A feed says what there is to send now; what comes first in it (a file's head, decoder
 * configuration) is its own affair.
 */
#ifndef LIVE_FEED_H
#define LIVE_FEED_H

#include "av/codec.h"
#include "co/co.h"

#include <sys/uio.h>

struct live_feed;

enum { LIVE_FEED_VIDEO, LIVE_FEED_AUDIO, LIVE_FEED_TRACKS };

/* What one plays, and where it is: for lists. Pointers are valid until the next yield. */
struct live_feed_info {
    const char *name;            /* of the file */
    co_usec position, duration;
    int scale;                   /* how fast it plays, thousandths */
    unsigned kbps;               /* of the file, about */
    co_usec turn;                /* about how long to merge is best */
    struct live_feed_track {
        enum av_codec codec;     /* AV_CODEC_NONE: there is none */
        const uint8_t *config;
        size_t config_size;
    } tracks[LIVE_FEED_TRACKS];
};

/* Nothing here yields: turns are taken from timers. */
struct live_feed_kind {
    /* Is it worth a turn when the next one is due? False: only after on_more(). */
    bool (*ready)(const struct live_feed *f);
    /* The bytes to send now, at most `max` ranges, valid until the next call of any of these. 0:
     * there are none now: its clock does not want more, it waits for a disk, or it has ended. */
    int (*ranges)(struct live_feed *f, struct iovec *iov, int max);
    void (*advance)(struct live_feed *f, size_t sent);
    /* All of it is sent, or it cannot go on: the sender is done. */
    bool (*ended)(const struct live_feed *f);
    /* How far what comes next is behind what its clock wants. */
    co_usec (*lag)(const struct live_feed *f);
    /* How many frames of what its clock wants are not sent yet, about. */
    uint64_t (*pending)(const struct live_feed *f);
    void (*paused)(struct live_feed *f, bool paused); /* its clock stands still meanwhile */
    /* False: there is nothing to tell now. NULL: never. */
    bool (*describe)(const struct live_feed *f, struct live_feed_info *out);
};

struct live_feed {
    const struct live_feed_kind *kind;
    /* While a sender waits for it: it may be ready now. Not from within the functions above.
     * NULL: nobody waits. */
    void (*on_more)(struct live_feed *f, void *arg);
    void *arg;
};

#endif
