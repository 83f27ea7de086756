/* SPDX-License-Identifier: MIT */
/* reap.h - free what a stream leaves behind some at a time: hundreds of megabytes take long to give
 * back, and nobody waits for it. */
#ifndef LIVE_REAP_H
#define LIVE_REAP_H

#include <stdbool.h>
#include <stddef.h>

/* Less than that is freed at once. */
enum { LIVE_REAP_BYTES = 1 << 20 };

struct live_reap { /* a member of what is to be freed */
    struct live_reap *next;
    /* Free one thing of it. False: there was none any more, and what *r is a member of is freed. */
    bool (*free_one)(struct live_reap *r);
};

/* Takes r over: between the turns of others, a millisecond at a time. Does not yield. */
void live_reap(struct live_reap *r);
void live_reap_now(void); /* all of it, at the end of the program or of a test */

#endif
