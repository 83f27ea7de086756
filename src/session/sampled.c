/* SPDX-License-Identifier: MIT */
/* sampled.c - one sample line per kind of client and period. */
#include "session/sampled.h"

static const char *const names[SAMPLED_KINDS] = {
#define XX(ID, text) [SAMPLED_##ID] = text,
    PROTOCOL_SAMPLED_LIST(XX)
#undef XX
};

const char *sampled_name(enum sampled_kind kind)
{
    return names[kind];
}

bool sampled_due(struct sampled *p, enum sampled_kind kind, int64_t now, int64_t period)
{
    int64_t *due = &p->due[kind];

    if (*due == 0 || *due - now > period) { /* the latter after a reload shortened the period */
        *due = now + period;
        return false;
    }
    if (now < *due)
        return false;
    *due = now + period;
    return true;
}
