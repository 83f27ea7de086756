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
    unsigned n = ++r->v[kind].untold;

    r->v[kind].total++;
    if (r->v[kind].told_at && now - r->v[kind].told_at < TELL_EVERY)
        return 0;
    r->v[kind].told_at = now;
    r->v[kind].untold = 0;
    return n;
}
