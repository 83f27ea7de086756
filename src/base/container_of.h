/* SPDX-License-Identifier: MIT */
/* container_of.h - from a member to the structure that it is part of. */
#ifndef BASE_CONTAINER_OF_H
#define BASE_CONTAINER_OF_H

#include <stddef.h>
#include <stdint.h>

/* Returns a pointer to the `type` whose `member` is at `p`. The compiler checks that `p` has the
 * member's type; const is dropped. `p` must not be NULL. */
#define container_of(p, type, member) \
    ((type *)((uintptr_t)(p) - offsetof(type, member) + 0 * sizeof((p) == &((type *)0)->member)))

#endif
