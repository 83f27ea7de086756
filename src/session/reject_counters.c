/* SPDX-License-Identifier: MIT */
/* reject_counters.c - counts clients and writes that limits refused. */
#include "session/reject_counters.h"

#define TELL_EVERY CO_SECONDS(10)

const char *reject_reason_name(enum reject_reason kind)
{
    static const char *const names[REJECT_KINDS] = {
        [REJECT_CONNECTIONS] = "connections", [REJECT_PER_ADDRESS] = "per_address",
        [REJECT_CONNECT_RATE] = "connects_per_second", [REJECT_VHOST_IN] = "vhost_in",
        [REJECT_VHOST_OUT] = "vhost_out", [REJECT_DVR_DISK] = "dvr_disk",
        [REJECT_HLS_DISK] = "hls_disk", [REJECT_MEMORY] = "memory",
    };

    return names[kind];
}

unsigned reject_counters_add(struct reject_counters *r, enum reject_reason kind, co_usec now)
{
    struct reject_counters_logged *told = r->all ? r->all : &r->own;
    long long last = atomic_load_explicit(&told->v[kind].at, memory_order_relaxed);

    r->v[kind].total++;
    atomic_fetch_add_explicit(&told->v[kind].untold, 1, memory_order_relaxed);
    if (last && now - last < TELL_EVERY)
        return 0;
    if (!atomic_compare_exchange_strong(&told->v[kind].at, &last, now))
        return 0; /* another worker logs it */
    return atomic_exchange_explicit(&told->v[kind].untold, 0, memory_order_relaxed);
}
