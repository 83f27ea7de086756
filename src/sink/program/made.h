/* SPDX-License-Identifier: MIT */
/* made.h - which streams transcodes make of others, at all workers: the one that is made may be at
 * home elsewhere than the one that it is made of. Under one mutex; nothing of it with one worker,
 * which knows its own.
 */
#ifndef SINK_PROGRAM_MADE_H
#define SINK_PROGRAM_MADE_H

#include "session/env.h"

struct made; /* one transcode's */

/* One of `source` makes `target` from now on; both are "vhost/app/stream". NULL: one worker, or
 * the target is NULL: none of ours. */
struct made *made_enter(const struct session_env *env, const char *target, const char *source);
void made_leave(struct made *m); /* NULL is fine */

/* Of which other stream is it made, by any worker? malloc'ed; NULL: of none. */
char *made_of(const struct session_env *env, const char *target);

#endif
