/* SPDX-License-Identifier: MIT */
/* pace.h - a rate limit that is one number: some at once, and then one per interval. The number
 * begins as 0; times are in microseconds of a clock that nobody sets. */
#ifndef BASE_PACE_H
#define BASE_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
    int64_t each; /* one more after so long */
    int at_once;  /* after a long pause */
};

static inline bool pace_allows(const struct pace *p, int64_t full_at, int64_t now)
{
    return (full_at > now ? full_at - now : 0) <= p->each * (p->at_once - 1);
}

/* Takes one if there is one. */
static inline bool pace_take(const struct pace *p, int64_t *full_at, int64_t now)
{
    if (!pace_allows(p, *full_at, now))
        return false;
    *full_at = (*full_at > now ? *full_at : now) + p->each;
    return true;
}

#endif
