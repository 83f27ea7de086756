/* SPDX-License-Identifier: MIT */
/* missing_stream.h - logs players that wait long for a publisher, with the names of live streams,
 * since the requested name may have a typo.
 *
 * There is one list per thread and one timer, which runs only while a waiting player was not logged
 * yet. Players of published streams cost nothing.
 */
#ifndef SESSION_MISSING_STREAM_H
#define SESSION_MISSING_STREAM_H

#include "co/co.h"

struct session;

struct missing_stream { /* a member of struct session; initially zero */
    struct missing_stream *next, **prev; /* prev is NULL: not in the list */
    co_usec since;
};

/* The player was admitted and its stream has no publisher. Logs a line after a few seconds if there
 * is still none. Does not yield. */
void missing_stream_begin(struct session *s);
void missing_stream_end(struct session *s); /* removes it; fine if it is not in the list */

#endif
