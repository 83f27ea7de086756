/* SPDX-License-Identifier: MIT */
/* tap.h - carries the packets of a source to its replica on another worker.
 *
 * A stream is published on one thread, its owner worker. Another worker with many players of it has
 * a replica: a source whose publisher is a tap. A tap is a queue with one writer, the owner, and
 * one reader. A packet crosses once for all players there: the owner puts a pointer with a
 * reference of its own, the reader copies the packet and moves on, and the owner releases the
 * reference. So packets are counted and freed on one thread only, and the threads share no memory
 * but the queue.
 *
 * The reader pulls: each turn on its worker first polls the tap. The owner wakes it only when a
 * cursor there is parked for the next packet, when a publisher began or ended, or when much waits.
 * A reader that takes nothing for long is treated as a slow player: it loses everything until it
 * has taken what waits, and continues at the next key frame with the configuration in force.
 */
#ifndef LIVE_TAP_H
#define LIVE_TAP_H

#include "live/source.h"

struct live_tap; /* owned by the caller of live_tap_open() */

/* ---- on the owner's thread */

/* Opens a tap and fills it with the owner's packets from the newest key frame on. raise(arg) wakes
 * the reader; it is called on this thread, not again before live_tap_raised(), and must not yield.
 * Takes a reference to owner. */
struct live_tap *live_tap_open(struct live_source *owner, void (*raise)(void *arg), void *arg);
/* Releases the packets that the reader has taken. Each push does so; call this when nothing is
 * pushed. */
void live_tap_tidy(struct live_tap *tap);
/* Closes it when the reader has stopped; raise() is not called again. Returns NULL. */
struct live_tap *live_tap_close(struct live_tap *tap);

/* ---- on the reader's thread, to which `src` belongs */

/* Pushes the packets of the tap into src from now on. src has no other publisher. */
void live_tap_follow(struct live_tap *tap, struct live_source *src);
/* Call it on the reader's thread after raise(). */
void live_tap_raised(struct live_source *src);
/* Polls the tap; call it twice a second. Returns true, once, if nothing arrived since the last call
 * and the owner has packets to release with live_tap_tidy(). */
bool live_tap_poll(struct live_source *src);
/* Makes src an ordinary source without a publisher; the tap may be closed afterwards. */
void live_tap_leave(struct live_source *src);

#endif
