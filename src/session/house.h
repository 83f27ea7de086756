/* SPDX-License-Identifier: MIT */
/* house.h - a source that a worker has: it is at home there, or a replica of the one that is. */
#ifndef SESSION_HOUSE_H
#define SESSION_HOUSE_H

#include "session/env.h"

/* The worker found or made this source for a client: it is in its stream's home from now on, and
 * if that is elsewhere a replica of the source there. Only with several workers. Does not yield. */
void session_house(struct session_env *env, struct live_source *src);

#endif
