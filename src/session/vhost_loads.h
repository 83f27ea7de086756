/* SPDX-License-Identifier: MIT */
/* vhost_loads.h - what each worker sends and takes in for a vhost, so that all of them can bound
 * the sum. Any thread, under a lock: for vhosts that are bounded, when somebody wants to join one
 * and once a second.
 */
#ifndef SESSION_VHOST_LOADS_H
#define SESSION_VHOST_LOADS_H

#include <stdint.h>

struct vhost_load {
    int64_t in_kbps, out_kbps; /* at this moment */
    int64_t wanted_kbps;       /* what its players take together */
    unsigned publishing;       /* streams that somebody publishes */
    unsigned fresh;            /* publishers that were let in, and are in none of these yet */
};

struct vhost_loads;

struct vhost_loads *vhost_loads_new(void);
void vhost_loads_free(struct vhost_loads *l);
/* That is what this worker has now; gives what all have together. */
struct vhost_load vhost_loads_tell(struct vhost_loads *l, const char *vhost, unsigned worker,
                                   const struct vhost_load *own);

#endif
