/* SPDX-License-Identifier: MIT */
/* consumer.h - a player's place in a stream: a cursor into a wire.
 *
 * A turn of its loop: wait (park and io_wait, or a timer), take the config if any, take the
 * ranges, send them with one writev, say how many bytes went. A cursor that falls behind by more
 * than queue_length finishes the packet it is in and goes on at the newest key frame.
 */
#ifndef LIVE_CONSUMER_H
#define LIVE_CONSUMER_H

#include "live/wire.h"

#include <sys/uio.h>

struct live_block;
struct live_configs;
struct live_wire;

/* Lives in the player's own memory; fields are live/'s. */
struct live_consumer {
    struct live_source *src;
    struct live_wire *wire;
    struct live_block *block; /* NULL: waits for a key frame */
    uint32_t offset;          /* in the block, of the next byte to send */
    bool started, config_due;
    int64_t start_dts;        /* of the key frame it stood at last */
    struct live_configs *configs; /* in force there */
    uint64_t seq;             /* all packets before this one were sent, or left out */
    uint64_t dropped;         /* packets it was too slow for */
    struct co *co;            /* of live_consumer_park_me() */
    void (*on_packets)(struct live_consumer *c); /* parked in the source's list, for packets */
    uint64_t wake_seq;        /* up to this one */
    struct live_consumer *next, **prev;
    struct live_consumer *wait_next, **wait_prev; /* those that wait for a key frame, in the wire */
    co_usec waits_since;      /* the last time that it began to */
};

/* Join: at the newest key frame, or before the next one. Takes a reference to src. */
void live_consumer_open(struct live_consumer *c, struct live_source *src,
                        const struct live_format *fmt, const uint32_t param[LIVE_PARAMS]);
void live_consumer_close(struct live_consumer *c); /* fine if never opened (zeroed) */

/* The same of one that may be open already. It stays where it is if it was sent packets of that
 * wire that it would be sent again: true. Numbers of the wire go on even if it is the only one. */
bool live_consumer_reopen(struct live_consumer *c, struct live_source *src,
                          const struct live_format *fmt, const uint32_t param[LIVE_PARAMS]);

/* How many packets the log has beyond what was sent. */
uint64_t live_consumer_pending(const struct live_consumer *c);
/* How far what comes next is behind the newest packet: by their stamps, or by when they came if it
 * is in the log no more. 0: it has all, or waits for a key frame. */
co_usec live_consumer_lag(const struct live_consumer *c);
/* Call on_packets(c) once when at least `packets` are pending: soon after, when all that comes with
 * them has come too. It must not yield; it may park again. unpark() undoes it. */
void live_consumer_park(struct live_consumer *c, uint64_t packets,
                        void (*on_packets)(struct live_consumer *c));
/* The same for a coroutine that waits itself: it is unparked then. */
void live_consumer_park_me(struct live_consumer *c, uint64_t packets);
void live_consumer_unpark(struct live_consumer *c); /* fine if it is not parked */

/* Configuration to send before the ranges: the packets (borrowed until the next yield) in force
 * where the cursor stands, and the time to stamp them with. 0: nothing to send. Asked once. */
size_t live_consumer_config(struct live_consumer *c, const struct av_packet **out, size_t max,
                            int64_t *dts);
/* The bytes to send now, at most `max` ranges; `one`: only to the end of one packet. Valid until
 * the next yield. Gives the count, and moves a cursor that is too old; 0: there is nothing. If
 * something is pending all the same it has to be asked again, after others had their turn. */
int  live_consumer_ranges(struct live_consumer *c, struct iovec *iov, int max, bool one);
void live_consumer_advance(struct live_consumer *c, size_t sent);

#endif
