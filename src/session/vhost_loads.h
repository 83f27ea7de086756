/* SPDX-License-Identifier: MIT */
/* vhost_loads.h - the traffic of each worker per vhost, so that workers can limit the sum. Any
 * thread, under a lock. Used only for vhosts with a bandwidth limit, when a client joins and once a
 * second.
 */
#ifndef SESSION_VHOST_LOADS_H
#define SESSION_VHOST_LOADS_H

#include <stdint.h>

struct vhost_load {
    int64_t in_kbps, out_kbps; /* current rates */
    int64_t wanted_kbps;       /* sum of its players' rates */
    unsigned publishing;       /* published streams */
    unsigned fresh;            /* admitted publishers not in the values above yet */
};

struct vhost_loads;

struct vhost_loads *vhost_loads_new(void);
void vhost_loads_free(struct vhost_loads *l);
/* Publishes this worker's load and returns the sum of all workers. */
struct vhost_load vhost_loads_publish(struct vhost_loads *l, const char *vhost, unsigned worker,
                                   const struct vhost_load *own);

#endif
