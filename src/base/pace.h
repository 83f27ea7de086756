/* SPDX-License-Identifier: MIT */
/* pace.h - pauses between tries; and a rate limit that is one number, which begins as 0: some at
 * once, and then one per interval. Times are in microseconds of a clock that nobody sets. */
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

/* ---- pauses between tries: each twice as long as the one before, up to the longest. */

struct backoff {
    int64_t first, longest; /* microseconds */
    int64_t pause;          /* before the next try */
};

static inline struct backoff backoff_init(int64_t first, int64_t longest)
{
    return (struct backoff){ .first = first, .longest = longest, .pause = first };
}

/* It was well for a while: begin anew. */
static inline void backoff_reset(struct backoff *b)
{
    b->pause = b->first;
}

/* A pause is over, and another try failed or will. */
static inline void backoff_grow(struct backoff *b)
{
    b->pause = b->pause < b->longest / 2 ? b->pause * 2 : b->longest;
}

#endif
