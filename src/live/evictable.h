/* SPDX-License-Identifier: MIT */
/* evictable.h - data of a stream outside of its log, such as segments and recordings, that can be
 * dropped when memory is short.
 *
 * It counts in the registry's memory (live_registry_counter), so the largest one must be able to
 * drop data, like the largest logs do.
 */
#ifndef LIVE_EVICTABLE_H
#define LIVE_EVICTABLE_H

#include "live/source.h"

struct live_evictable { /* in the user's memory; the fields are private to live/ */
    const struct live_evictable_ops *how;
    const char *name;   /* name in log lines, borrowed: "HLS of live/x" */
    struct live_evictable *next, **prev;
};

struct live_evictable_ops { /* none yields */
    /* Returns the number of bytes that cut() would free. */
    size_t (*droppable)(const struct live_evictable *k);
    /* Drops them. Called while packets of any stream arrive, never from a function that the user
     * itself calls. */
    void (*cut)(struct live_evictable *k);
};

void live_evictable_open(struct live_evictable *k, struct live_registry *r, const char *name,
                      const struct live_evictable_ops *how);
void live_evictable_close(struct live_evictable *k); /* does nothing if never opened (zeroed) */
/* Returns the memory that one stream's data should stay within: an eighth of the limit. */
size_t live_evictable_share(const struct live_memory *m);

#endif
