/* SPDX-License-Identifier: MIT */
/* log_budget.c - token buckets that limit the log lines and bytes that peers cause. */
#include "base/log_budget.h"

#include "base/pace.h"

#include <string.h>

enum { PROBES = 4 };

/* Returns the time after which one unit is available again, in microseconds. */
static int64_t unit_cost(const struct log_rate *rate)
{
    return rate->a_second > 0 ? 1000000 / rate->a_second : 0;
}

bool log_budget_take(int64_t *full_at, const struct log_rate *rate, int64_t now)
{
    const struct pace pace = { unit_cost(rate), rate->at_once };

    return pace.each == 0 || pace_take(&pace, full_at, now);
}

void log_budget_charge(int64_t *full_at, const struct log_rate *rate, size_t bytes)
{
    if (bytes > LOG_UNIT)
        *full_at += unit_cost(rate) * (int64_t)(bytes - LOG_UNIT) / LOG_UNIT;
}

void log_budget_from(struct log_budget *b, const char *address, unsigned times)
{
    b->times = times;
    ip_customer(address, b->from);
}

static size_t place_of(struct log_addresses *t, const uint8_t of[IP_SIZE])
{
    if (!t->has_secret)
        siphash_new_key(t->secret);
    t->has_secret = true;
    return siphash(t->secret, of, IP_SIZE) % LOG_ADDRESSES;
}

/* Returns the address's own entry, else an unused one, else shares the first one. */
int64_t *log_addresses_at(struct log_addresses *t, const uint8_t of[IP_SIZE], int64_t now)
{
    size_t first = place_of(t, of), at = LOG_ADDRESSES;

    for (size_t i = 0; i < PROBES; i++) {
        size_t here = (first + i) % LOG_ADDRESSES;

        if (memcmp(t->v[here].of, of, IP_SIZE) == 0)
            return &t->v[here].full_at;
        if (at == LOG_ADDRESSES && t->v[here].full_at <= now)
            at = here;
    }
    if (at == LOG_ADDRESSES)
        return &t->v[first].full_at;
    memcpy(t->v[at].of, of, IP_SIZE);
    return &t->v[at].full_at;
}
