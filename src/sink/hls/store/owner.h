/* SPDX-License-Identifier: MIT */
/* owner.h - finds the worker that has a file of HLS or DASH in memory, or a player's session.
 *
 * A stream's HLS and its players' sessions are on the owner worker of the stream. A request may
 * arrive at any worker: if that worker does not have the file, it finds the owner here and forwards
 * the request. The table is shared by the process under a mutex; with one worker it stays empty and
 * unlocked.
 *
 * Names are paths as used by hls_names_owner(), and "?" followed by the id of a session.
 */
#ifndef SINK_HLS_STORE_OWNER_H
#define SINK_HLS_STORE_OWNER_H

#include "session/env.h"

enum { HLS_NO_OWNER = -1 };

/* Registers this worker as the owner; the last registration wins. */
void hls_owner_set(const struct session_env *env, const char *name);
/* Removes the registration if it is still this worker's. */
void hls_owner_clear(const struct session_env *env, const char *name);
/* Returns the worker that has it, or HLS_NO_OWNER, which is always returned with one worker. */
int hls_owner_of(const struct session_env *env, const char *name);

#endif
