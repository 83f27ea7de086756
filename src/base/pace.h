/* SPDX-License-Identifier: MIT */
/* pace.h - a rate limit with a single number of state, 0 at first: a burst, then one per interval;
 * and growing pauses between retries. Times are in microseconds of a monotonic clock. */
#ifndef BASE_PACE_H
#define BASE_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
    int64_t each; /* interval */
    int at_once;  /* size of a burst */
};

static inline bool pace_allows(const struct pace *p, int64_t full_at, int64_t now)
{
    return (full_at > now ? full_at - now : 0) <= p->each * (p->at_once - 1);
}

/* Takes one; false if the limit is reached. */
static inline bool pace_take(const struct pace *p, int64_t *full_at, int64_t now)
{
    if (!pace_allows(p, *full_at, now))
        return false;
    *full_at = (*full_at > now ? *full_at : now) + p->each;
    return true;
}

/* ---- pauses between retries: each is twice as long as the one before, up to the longest. */

struct backoff {
    int64_t first, longest; /* microseconds */
    int64_t pause;          /* before the next try */
};

static inline struct backoff backoff_init(int64_t first, int64_t longest)
{
    return (struct backoff){ .first = first, .longest = longest, .pause = first };
}

/* Starts again with the first pause, after a success. */
static inline void backoff_reset(struct backoff *b)
{
    b->pause = b->first;
}

/* Doubles the pause, before or after another failed try. */
static inline void backoff_grow(struct backoff *b)
{
    b->pause = b->pause < b->longest / 2 ? b->pause * 2 : b->longest;
}

#endif
