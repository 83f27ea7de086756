/* SPDX-License-Identifier: MIT */
/* log_budget.c - how many lines whom we do not know may cause: a bucket that fills with time. */
#include "base/log_budget.h"

#include <string.h>

enum { NETWORK = 8, PROBES = 4 };

bool log_budget_take(int64_t *full_at, const struct log_rate *rate, int64_t now)
{
    int64_t cost;

    if (rate->a_second <= 0)
        return true;
    cost = 1000000 / rate->a_second;
    if (*full_at < now)
        *full_at = now;
    if (*full_at + cost > now + cost * rate->at_once)
        return false;
    *full_at += cost;
    return true;
}

void log_budget_from(struct log_budget *b, const char *address)
{
    b->counted = address && ip_parse(address, strlen(address), b->from);
    if (b->counted && !ip_is_v4(b->from))
        memset(b->from + NETWORK, 0, IP_SIZE - NETWORK);
}

static size_t place_of(struct log_addresses *t, const uint8_t of[IP_SIZE])
{
    if (!t->has_secret)
        siphash_new_key(t->secret);
    t->has_secret = true;
    return siphash(t->secret, of, IP_SIZE) % LOG_ADDRESSES;
}

/* Its own place, else one that nobody uses any more, else it shares the first. */
bool log_addresses_take(struct log_addresses *t, const uint8_t of[IP_SIZE],
                        const struct log_rate *rate, int64_t now)
{
    size_t first = place_of(t, of), at = LOG_ADDRESSES;

    for (size_t i = 0; i < PROBES; i++) {
        size_t here = (first + i) % LOG_ADDRESSES;

        if (memcmp(t->v[here].of, of, IP_SIZE) == 0)
            return log_budget_take(&t->v[here].full_at, rate, now);
        if (at == LOG_ADDRESSES && t->v[here].full_at <= now)
            at = here;
    }
    if (at == LOG_ADDRESSES)
        return log_budget_take(&t->v[first].full_at, rate, now);
    memcpy(t->v[at].of, of, IP_SIZE);
    return log_budget_take(&t->v[at].full_at, rate, now);
}
