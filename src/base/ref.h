/* SPDX-License-Identifier: MIT */
/* ref.h - the reference count of shared objects.
 *
 * Not atomic: an object and all its holders live on one worker's thread.
 */
#ifndef BASE_REF_H
#define BASE_REF_H

#include <assert.h>
#include <stdbool.h>

struct ref {
    unsigned n;
};

static inline void ref_init(struct ref *r)
{
    r->n = 1;
}

static inline void ref_get(struct ref *r)
{
    assert(r->n > 0);
    r->n++;
}

/* Drops a reference. True: it was the last one, free the object now. */
static inline bool ref_put(struct ref *r)
{
    assert(r->n > 0);
    return --r->n == 0;
}

#endif
