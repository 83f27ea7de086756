/* SPDX-License-Identifier: MIT */
/* container_of.h - from a member to the structure that it is part of. */
#ifndef BASE_CONTAINER_OF_H
#define BASE_CONTAINER_OF_H

#include <stddef.h>
#include <stdint.h>

/* `p` points to the member of that name in a `type`: a pointer to that `type`. That `p` has the
 * member's type is seen by the compiler; whether it is const is not kept. Not for NULL. */
#define container_of(p, type, member) \
    ((type *)((uintptr_t)(p) - offsetof(type, member) + 0 * sizeof((p) == &((type *)0)->member)))

#endif
