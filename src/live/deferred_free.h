/* SPDX-License-Identifier: MIT */
/* deferred_free.h - frees large parts of a stream in small steps, because freeing hundreds of
 * megabytes at once would block the event loop. */
#ifndef LIVE_DEFERRED_FREE_H
#define LIVE_DEFERRED_FREE_H

#include <stdbool.h>
#include <stddef.h>

/* Anything smaller is freed immediately. */
enum { LIVE_DEFERRED_BYTES = 1 << 20 };

struct live_deferred_free { /* a member of the object to free */
    struct live_deferred_free *next;
    /* Frees one part of the object. Returns false if there was none left; then it has freed the
     * object itself, which contains *r. */
    bool (*free_one)(struct live_deferred_free *r);
};

/* Takes ownership of r and frees it between other tasks, for a millisecond at a time. Does not
 * yield. */
void live_deferred_free(struct live_deferred_free *r);
/* frees everything now, at the end of the program or of a test */
void live_deferred_free_flush(void);

#endif
