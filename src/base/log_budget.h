/* SPDX-License-Identifier: MIT */
/* log_budget.h - how many lines whom we do not know may cause.
 *
 * Anybody may connect, and say things that are worth a line, as often as the network lets him. So a
 * connection has a budget of lines, all those together that neither publish nor play have one, and
 * so have those of one address that do: who may play may also come again and again. What is over is
 * counted and told in one line later. Lines of ours have none.
 */
#ifndef BASE_LOG_BUDGET_H
#define BASE_LOG_BUDGET_H

#include "base/ip.h"
#include "base/siphash.h"

#include <stdbool.h>
#include <stdint.h>

enum log_who {
    LOG_OURS,      /* no limit */
    LOG_STRANGER,  /* a connection that neither publishes nor plays: its budget, and that of all */
    LOG_CLIENT,    /* one that does: its own, and that of its address */
    LOG_STRANGERS, /* work for many of them: that of all */
};

/* Of one connection; begins zeroed. */
struct log_budget {
    enum log_who who;
    int64_t full_at;   /* when nothing of it is used any more, microseconds */
    unsigned left_out; /* lines, not told yet */
    bool counted;      /* with others of its address: */
    uint8_t from[IP_SIZE];
};

struct log_rate {
    int a_second; /* 0: no limit */
    int at_once;  /* and so many more */
};

/* One line more, now (microseconds, monotonic)? If so it is taken from the budget. */
bool log_budget_take(int64_t *full_at, const struct log_rate *rate, int64_t now);

/* What a client of that address does counts with that of others there: of an IPv6 address the
 * /64, which is what one customer gets. NULL: with nobody's. */
void log_budget_from(struct log_budget *b, const char *address);

/* The budgets of addresses that are busy at one time. Where there are more, some share one. */
enum { LOG_ADDRESSES = 1024 };
struct log_addresses {
    struct {
        uint8_t of[IP_SIZE];
        int64_t full_at;
    } v[LOG_ADDRESSES];
    bool has_secret;
    uint8_t secret[SIPHASH_KEY]; /* so that nobody can choose addresses that share */
};
bool log_addresses_take(struct log_addresses *t, const uint8_t of[IP_SIZE],
                        const struct log_rate *rate, int64_t now);

#endif
