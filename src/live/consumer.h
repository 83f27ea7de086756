/* SPDX-License-Identifier: MIT */
/* consumer.h - a player's cursor into a wire.
 *
 * Each turn of a player's loop waits (park and io_wait, or a timer), takes the configuration if any
 * is due, takes the ranges, sends them with one writev and reports the number of sent bytes. A
 * cursor that falls behind by more than queue_length finishes its current packet and continues at
 * the newest key frame.
 */
#ifndef LIVE_CONSUMER_H
#define LIVE_CONSUMER_H

#include "live/wire.h"

#include <sys/uio.h>

struct live_block;
struct live_configs;
struct live_wire;

/* In the player's memory; the fields are private to live/. */
struct live_consumer {
    struct live_source *src;
    struct live_wire *wire;
    struct live_block *block; /* NULL: it waits for a key frame */
    uint32_t offset;          /* offset of the next byte to send in the block */
    bool started, config_due;
    int64_t start_dts;        /* time of the last key frame at which it started */
    struct live_configs *configs; /* configurations in force there */
    uint64_t seq;             /* all packets before this one were sent or skipped */
    uint64_t dropped;         /* packets skipped because it was too slow */
    struct co *co;            /* coroutine of live_consumer_park_me() */
    /* callback while it is parked in the source's list */
    void (*on_packets)(struct live_consumer *c);
    uint64_t wake_seq;        /* sequence number that wakes it */
    struct live_consumer *next, **prev;
    /* links in the wire's list of cursors that wait for a key frame */
    struct live_consumer *wait_next, **wait_prev;
    co_usec waits_since;      /* start of that wait */
};

/* Joins at the newest key frame, or waits for the next one. Takes a reference to src. */
void live_consumer_open(struct live_consumer *c, struct live_source *src,
                        const struct live_format *fmt, const uint32_t param[LIVE_PARAMS]);
void live_consumer_close(struct live_consumer *c); /* does nothing if never opened (zeroed) */

/* The same for a cursor that may be open. Returns true if it kept its position, because it has sent
 * packets of this wire that it would otherwise send again. The wire's numbers continue even if this
 * is its only player. */
bool live_consumer_reopen(struct live_consumer *c, struct live_source *src,
                          const struct live_format *fmt, const uint32_t param[LIVE_PARAMS]);

/* Returns the number of packets in the log that are not sent yet. */
uint64_t live_consumer_pending(const struct live_consumer *c);
/* Returns how far the next packet is behind the newest one: by time stamps, or by arrival if the
 * packet has left the log. 0: everything is sent, or it waits for a key frame. */
co_usec live_consumer_lag(const struct live_consumer *c);
/* Calls on_packets(c) once when at least `packets` are pending, after all packets that arrive
 * together. The callback must not yield; it may park again. unpark() cancels it. */
void live_consumer_park(struct live_consumer *c, uint64_t packets,
                        void (*on_packets)(struct live_consumer *c));
/* The same for the calling coroutine, which is unparked then. */
void live_consumer_park_me(struct live_consumer *c, uint64_t packets);
void live_consumer_unpark(struct live_consumer *c); /* does nothing if it is not parked */

/* Returns the number of configuration packets to send before the ranges, 0 for none: those in force
 * at the cursor (borrowed until the next yield), and the time to stamp them with. Returns them
 * once. */
size_t live_consumer_config(struct live_consumer *c, const struct av_packet **out, size_t max,
                            int64_t *dts);
/* Returns the bytes to send now in at most `max` ranges; with `one`, only up to the end of one
 * packet. They are valid until the next yield. Returns their number and moves a cursor that is too
 * old. 0: nothing to send; if something is still pending, call it again after other coroutines have
 * run. */
int  live_consumer_ranges(struct live_consumer *c, struct iovec *iov, int max, bool one);
void live_consumer_advance(struct live_consumer *c, size_t sent);

#endif
