/* SPDX-License-Identifier: MIT */
/* deferred_free.h - free what a stream leaves behind some at a time: hundreds of megabytes take
 * long to give back, and nobody waits for it. */
#ifndef LIVE_DEFERRED_FREE_H
#define LIVE_DEFERRED_FREE_H

#include <stdbool.h>
#include <stddef.h>

/* Less than that is freed at once. */
enum { LIVE_DEFERRED_BYTES = 1 << 20 };

struct live_deferred_free { /* a member of what is to be freed */
    struct live_deferred_free *next;
    /* Free one thing of it. False: there was none any more, and what *r is a member of is freed. */
    bool (*free_one)(struct live_deferred_free *r);
};

/* Takes r over: between the turns of others, a millisecond at a time. Does not yield. */
void live_deferred_free(struct live_deferred_free *r);
void live_deferred_free_flush(void); /* all of it, at the end of the program or of a test */

#endif
