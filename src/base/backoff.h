/* SPDX-License-Identifier: MIT */
/* backoff.h - pauses between tries: each twice as long as the one before, up to the longest. */
#ifndef BASE_BACKOFF_H
#define BASE_BACKOFF_H

#include <stdint.h>

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
