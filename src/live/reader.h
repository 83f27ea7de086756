/* SPDX-License-Identifier: MIT */
/* reader.h - a cursor over the packets of a source, for code that builds its own output from them:
 * HLS, recordings. Players use a consumer instead.
 *
 * A reader belongs to one publisher. When that publisher ends, the reader continues until it has
 * read everything that arrived before, even if packets of the next publisher arrive already; those
 * are for another reader.
 *
 * While a reader is open, the log keeps the packets that it has not read, within the usual limits
 * queue_length and max_bytes. A slower reader loses whole GOPs, counts the lost packets, and
 * continues at the oldest key frame in the log.
 */
#ifndef LIVE_READER_H
#define LIVE_READER_H

#include "live/consumer.h"

struct live_reader { /* in the user's memory; the fields are private to live/ */
    struct live_source *src;
    uint64_t seq;     /* the next packet to read */
    uint64_t end;     /* it stops before this packet; UINT64_MAX: no end yet */
    uint64_t dropped; /* packets lost because it was too slow */
    bool started;     /* it found a packet to start at */
    bool at_key;      /* `seq` is a packet to start at, or follows one without a gap */
    /* if it has an end: configuration in force before `seq`; else NULL */
    struct live_configs *configs;
    struct co *co;    /* waits in live_reader_wait(); or NULL */
    struct live_reader *next, **prev;
};

/* Starts at the newest key frame in the log, or else at the next one. Takes a reference to src.
 * Unread packets stay when the publisher ends. A reader is not a player: it does not keep an idle
 * publisher. */
void live_reader_open(struct live_reader *r, struct live_source *src);
void live_reader_close(struct live_reader *r); /* does nothing if never opened (zeroed) */

/* Returns the next packet, borrowed until the next call or yield; NULL when all are read. Does not
 * yield. */
const struct av_packet *live_reader_next(struct live_reader *r);
/* Returns the configuration packets in force before the packet that next() returns, to start a
 * muxer, also after `dropped` grew. Borrowed until the next yield; returns their number. */
size_t live_reader_configs(const struct live_reader *r, const struct av_packet **out, size_t max);
/* Ends the reader before the next packet to arrive. The source calls it when the publisher ends. */
void live_reader_end(struct live_reader *r);
bool live_reader_ended(const struct live_reader *r);
bool live_reader_done(const struct live_reader *r); /* it ended, and everything is read */
/* Waits for `time`, or until the reader ends; packets may arrive meanwhile. Yields; ERR_STOPPED if
 * the coroutine was stopped. */
err_t live_reader_wait(struct live_reader *r, co_usec time) __attribute__((warn_unused_result));
/* Calls on_packets(wakeup) once when there is more to read, like live_consumer_park(). `wakeup` is
 * the caller's, zeroed; it has no wire and is only for live_consumer_unpark(). */
void live_reader_park(const struct live_reader *r, struct live_consumer *wakeup,
                      void (*on_packets)(struct live_consumer *wakeup));
/* Moves a reader that no coroutine waits in; `to` is not open. */
void live_reader_move(struct live_reader *to, struct live_reader *from);

#endif
