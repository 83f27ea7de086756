/* SPDX-License-Identifier: MIT */
/* reader.h - a cursor over the packets of a source, for those who make something of their own of
 * them: HLS, recordings. A player wants a consumer instead.
 *
 * A reader is of one publisher. When that one ends, the reader has an end: it goes on until it has
 * read all that came before, also while the next publisher's packets come already, which are for
 * another reader.
 *
 * While a reader is open the log keeps what it has not read, as long and as much as it keeps for
 * anybody: queue_length and max_bytes. A reader that is slower than that loses whole groups of
 * pictures, counts how many packets, and goes on at the oldest key frame there is.
 */
#ifndef LIVE_READER_H
#define LIVE_READER_H

#include "live/consumer.h"

struct live_reader { /* lives in the user's memory; fields are live/'s */
    struct live_source *src;
    uint64_t seq;     /* of the packet to read next */
    uint64_t end;     /* it reads no packet from this one on; UINT64_MAX: there is no end yet */
    uint64_t dropped; /* packets it was too slow for */
    bool started;     /* it had a place to start at */
    bool at_key;      /* seq is a packet to start at, or in the middle after one */
    struct live_configs *configs; /* it has an end: those in force before `seq`; else NULL */
    struct co *co;    /* in live_reader_wait() */
    struct live_reader *next, **prev;
};

/* Begin at the newest key frame that the log has, or else at the next one. Takes a reference to
 * src. What is unread stays when the publisher ends. A reader is no player: it does not
 * keep an idle publisher. */
void live_reader_open(struct live_reader *r, struct live_source *src);
void live_reader_close(struct live_reader *r); /* fine if never opened (zeroed) */

/* The next packet, borrowed until the next call or yield; NULL when all is read. Does not yield. */
const struct av_packet *live_reader_next(struct live_reader *r);
/* Configuration in force before the packet that next() gives: to give to a muxer when it begins,
 * and again after `dropped` grew. Borrowed until the next yield; returns how many. */
size_t live_reader_configs(const struct live_reader *r, const struct av_packet **out, size_t max);
/* Nothing that comes from now on is for it. When its publisher ends, the source does that. */
void live_reader_end(struct live_reader *r);
bool live_reader_ended(const struct live_reader *r);
bool live_reader_done(const struct live_reader *r); /* it ended, and all is read */
/* Let packets gather for so long, or until it ends. Yields; ERR_STOPPED when asked to stop. */
err_t live_reader_wait(struct live_reader *r, co_usec time) __attribute__((warn_unused_result));
/* Call on_packets(bell) once when there is something more to read, as live_consumer_park() does.
 * The bell is the caller's, zeroed; it has no wire and is for live_consumer_unpark() alone. */
void live_reader_park(const struct live_reader *r, struct live_consumer *bell,
                      void (*on_packets)(struct live_consumer *bell));
/* From one memory to another, which is not open; nobody waits. */
void live_reader_move(struct live_reader *to, struct live_reader *from);

#endif
