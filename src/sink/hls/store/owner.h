/* SPDX-License-Identifier: MIT */
/* owner.h - which worker has a file of HLS or DASH in memory, or the session of a player.
 *
 * A stream's HLS is at the stream's home, and so are its players' sessions. A request may come to
 * any worker: what that one does not have is looked up here, and answered there. A table of the
 * process under one mutex; with one worker it stays empty, and nobody locks it.
 *
 * Names are paths as hls_names_owner() has them, and "?" with the id of a session.
 */
#ifndef SINK_HLS_STORE_OWNER_H
#define SINK_HLS_STORE_OWNER_H

#include "session/env.h"

enum { HLS_NO_OWNER = -1 };

/* This worker has it from now on; of two who say so the last one does. */
void hls_owner_set(const struct session_env *env, const char *name);
/* No longer, if it is this one's still. */
void hls_owner_clear(const struct session_env *env, const char *name);
/* The worker that has it, or HLS_NO_OWNER; always that with one worker. */
int hls_owner_of(const struct session_env *env, const char *name);

#endif
