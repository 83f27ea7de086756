/* SPDX-License-Identifier: MIT */
/* evictable.h - what keeps bytes of a stream outside of its log: segments, recordings.
 *
 * They count in the registry's memory (live_registry_counter), so the one that keeps most must be
 * able to lose some of it, as the largest logs do.
 */
#ifndef LIVE_EVICTABLE_H
#define LIVE_EVICTABLE_H

#include "live/source.h"

struct live_evictable { /* in the keeper's memory; fields are live/'s */
    const struct live_evictable_ops *how;
    const char *name;   /* for the log, borrowed: "HLS of live/x" */
    struct live_evictable *next, **prev;
};

struct live_evictable_ops { /* neither yields */
    /* What cut() would give back. */
    size_t (*droppable)(const struct live_evictable *k);
    /* Lose it. Called while packets of any stream come, never from what the keeper itself calls. */
    void (*cut)(struct live_evictable *k);
};

void live_evictable_open(struct live_evictable *k, struct live_registry *r, const char *name,
                      const struct live_evictable_ops *how);
void live_evictable_close(struct live_evictable *k); /* fine if never opened (zeroed) */
/* What one stream's keeper should do with, whoever else needs little: an eighth of the limit. */
size_t live_evictable_share(const struct live_memory *m);

#endif
