/* SPDX-License-Identifier: MIT */
/* log_budget.h - how many lines whom we do not know may cause.
 *
 * Anybody may connect, and say things that are worth a line, as often as the network lets him. So a
 * connection has a budget of lines, and all those together that neither publish nor play have one;
 * what is over is counted and told in one line later. Lines of ours have none. Pure.
 */
#ifndef BASE_LOG_BUDGET_H
#define BASE_LOG_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum log_who {
    LOG_OURS,      /* no limit */
    LOG_STRANGER,  /* a connection that neither publishes nor plays: its budget, and that of all */
    LOG_CLIENT,    /* one that does: its own */
    LOG_STRANGERS, /* work for many of them: that of all */
};

/* Of one connection; begins zeroed. */
struct log_budget {
    enum log_who who;
    int64_t full_at;   /* when nothing of it is used any more, microseconds */
    unsigned left_out; /* lines, not told yet */
};

struct log_rate {
    int a_second; /* 0: no limit */
    int at_once;  /* and so many more */
};

/* One line more, now (microseconds, monotonic)? If so it is taken from the budget. */
bool log_budget_take(int64_t *full_at, const struct log_rate *rate, int64_t now);

#endif
