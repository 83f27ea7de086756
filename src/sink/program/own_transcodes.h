/* SPDX-License-Identifier: MIT */
/* own_transcodes.h - which streams transcodes make of others, at all workers: the one that is made
 * may be at home elsewhere than the one that it is made of. Under one mutex; nothing of it with one
 * worker, which knows its own.
 */
#ifndef SINK_PROGRAM_OWN_TRANSCODES_H
#define SINK_PROGRAM_OWN_TRANSCODES_H

#include "session/env.h"

struct made; /* one transcode's */

/* One of `source` makes `target` from now on; both are "vhost/app/stream". NULL: one worker, or
 * the target is NULL: none of ours. */
struct made *own_transcodes_enter(const struct session_env *env, const char *target,
                                  const char *source);
void own_transcodes_leave(struct made *m); /* NULL is fine */

/* Of which other stream is it made, by any worker? malloc'ed; NULL: of none. */
char *own_transcodes_of(const struct session_env *env, const char *target);

#endif
