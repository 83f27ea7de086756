/* SPDX-License-Identifier: MIT */
/* refusals.c - what was refused because of a limit. */
#include "session/refusals.h"

#define TELL_EVERY CO_SECONDS(10)

const char *refusal_name(enum refusal kind)
{
    static const char *const names[REFUSAL_KINDS] = {
        [REFUSAL_CONNECTIONS] = "connections", [REFUSAL_PER_ADDRESS] = "per_address",
        [REFUSAL_CONNECT_RATE] = "connects_per_second", [REFUSAL_VHOST_IN] = "vhost_in",
        [REFUSAL_VHOST_OUT] = "vhost_out", [REFUSAL_DVR_DISK] = "dvr_disk",
        [REFUSAL_HLS_DISK] = "hls_disk", [REFUSAL_MEMORY] = "memory",
    };

    return names[kind];
}

unsigned refusals_add(struct refusals *r, enum refusal kind, co_usec now)
{
    struct refusals_told *told = r->all ? r->all : &r->own;
    long long last = atomic_load_explicit(&told->v[kind].at, memory_order_relaxed);

    r->v[kind].total++;
    atomic_fetch_add_explicit(&told->v[kind].untold, 1, memory_order_relaxed);
    if (last && now - last < TELL_EVERY)
        return 0;
    if (!atomic_compare_exchange_strong(&told->v[kind].at, &last, now))
        return 0; /* another worker tells it */
    return atomic_exchange_explicit(&told->v[kind].untold, 0, memory_order_relaxed);
}
