/* SPDX-License-Identifier: MIT */
/* log_budget.c - how many lines whom we do not know may cause: a bucket that fills with time. */
#include "base/log_budget.h"

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
