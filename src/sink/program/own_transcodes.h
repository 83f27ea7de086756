/* SPDX-License-Identifier: MIT */
/* own_transcodes.h - streams on this server that transcodes produce from others, on all workers:
 * the output may have another owner worker than the source. Protected by a mutex; unused with one
 * worker, which knows all of its own.
 */
#ifndef SINK_PROGRAM_OWN_TRANSCODES_H
#define SINK_PROGRAM_OWN_TRANSCODES_H

#include "session/env.h"

struct made; /* the output of one transcode */

/* Registers that a transcode of `source` produces `target`; both are "vhost/app/stream". Returns
 * NULL with one worker, or if target is NULL (not on this server). */
struct made *own_transcodes_enter(const struct session_env *env, const char *target,
                                  const char *source);
void own_transcodes_leave(struct made *m); /* NULL is fine */

/* Returns the stream from which any worker produces `target`, malloc'ed; NULL if none. */
char *own_transcodes_of(const struct session_env *env, const char *target);

#endif
