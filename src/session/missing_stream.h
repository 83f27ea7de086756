/* SPDX-License-Identifier: MIT */
/* missing_stream.h - players that wait for a publisher for long: the log names the streams that are
 * on air, since the name that they ask for may be a typing error.
 *
 * One list of this thread and one timer, which runs only while a player waits that nothing was
 * logged about. A player of a published stream costs nothing.
 */
#ifndef SESSION_MISSING_STREAM_H
#define SESSION_MISSING_STREAM_H

#include "co/co.h"

struct session;

struct alone { /* a member of struct session; zeroed at first */
    struct alone *next, **prev; /* prev is NULL: it is not in the list */
    co_usec since;
};

/* Its player was let in, and its stream has no publisher. One line after a few seconds if there is
 * still none. Does not yield. */
void missing_stream_begin(struct session *s);
void missing_stream_end(struct session *s); /* it leaves; fine if it is not in the list */

#endif
