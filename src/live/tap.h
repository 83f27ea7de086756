/* SPDX-License-Identifier: MIT */
/* tap.h - the packets of a source on their way to its replica in another thread.
 *
 * A source is published on one thread, its home. Another thread that has many players of it has a
 * replica: a source whose publisher is a tap, a queue with one writer, the home, and one reader. A
 * packet crosses once for all players there: the home puts a pointer with a reference of its own,
 * the reader copies what it says and moves on, and the home gives the reference back. So packets
 * are counted and freed on one thread only, and no memory is shared but the queue.
 *
 * The reader pulls: who takes a turn there looks into the tap first. It is raised only when
 * somebody there is parked for what comes next, a publisher came or went, or much waits. A reader
 * that takes nothing for long is a slow player: it loses all until it has taken what waits, and
 * goes on at the next key frame with the configuration in force.
 */
#ifndef LIVE_TAP_H
#define LIVE_TAP_H

#include "live/source.h"

struct live_tap; /* owned by who opened it */

/* ---- on the home's thread */

/* What there is of the home goes into the tap at once, from the newest key frame on. raise(arg) is
 * called on this thread, not again before live_tap_raised(); it must not yield. Takes a reference
 * to home. */
struct live_tap *live_tap_open(struct live_source *owner, void (*raise)(void *arg), void *arg);
/* Give back what the reader has taken: a push does it, this is for when nothing is pushed. */
void live_tap_tidy(struct live_tap *tap);
/* Nobody reads it any more, raise() is not called again. Always NULL. */
struct live_tap *live_tap_close(struct live_tap *tap);

/* ---- on the reader's thread; `src` is of that one */

/* What the tap brings is pushed into src from now on. Nobody else publishes there. */
void live_tap_follow(struct live_tap *tap, struct live_source *src);
/* What raise() was for. */
void live_tap_raised(struct live_source *src);
/* Look into it, twice a second, whoever takes turns there. True: nothing came since the last time,
 * and the home has something to tidy up; once. */
bool live_tap_poll(struct live_source *src);
/* src is no replica any more, and nobody publishes there; the tap may be closed. */
void live_tap_leave(struct live_source *src);

#endif
