/* SPDX-License-Identifier: MIT */
/* where.h - which worker has a file of HLS or DASH in memory, or the session of a player.
 *
 * A stream's HLS is at the stream's home, and so are its players' sessions. A request may come to
 * any worker: what that one does not have is looked up here, and answered there. A table of the
 * process under one mutex; with one worker it stays empty, and nobody locks it.
 *
 * Names are paths as hls_names_where() has them, and "?" with the id of a session.
 */
#ifndef SINK_HLS_WHERE_H
#define SINK_HLS_WHERE_H

#include "session/env.h"

enum { HLS_NOWHERE = -1 };

/* This worker has it from now on; of two who say so the last one does. */
void hls_where_enter(const struct session_env *env, const char *name);
/* No longer, if it is this one's still. */
void hls_where_leave(const struct session_env *env, const char *name);
/* The worker that has it, or HLS_NOWHERE; always that with one worker. */
int hls_where(const struct session_env *env, const char *name);

#endif
