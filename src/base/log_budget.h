/* SPDX-License-Identifier: MIT */
/* log_budget.h - token buckets that bound the log lines and bytes that peers cause.
 *
 * A connection has a budget, all connections together that neither publish nor play (strangers)
 * have one, and so have all publishers and players of one address. A budget counts units: a line
 * of up to LOG_UNIT bytes costs one, a longer line costs in proportion to its size. Lines that
 * exceed a budget are counted and reported later in one line. The server's own lines have none.
 */
#ifndef BASE_LOG_BUDGET_H
#define BASE_LOG_BUDGET_H

#include "base/ip.h"
#include "base/siphash.h"

#include <stdbool.h>
#include <stdint.h>

enum { LOG_UNIT = 200 }; /* bytes of a line that costs one unit */

enum log_who {
    LOG_OURS,      /* no limit */
    LOG_UNTRUSTED,  /* a connection that neither publishes nor plays: its own budget and theirs */
    LOG_CLIENT,    /* a publisher or player: its own budget, its address's, that of all clients */
    LOG_UNTRUSTED_ALL, /* work for many strangers: the budget of all strangers */
};

/* Of one connection; begins zeroed. */
struct log_budget {
    enum log_who who;
    int64_t full_at;   /* when the bucket is full again, microseconds */
    unsigned left_out; /* lines left out and not reported yet */
    unsigned times;    /* the address has so many times the rate of log_rules.address; 0: once */
    uint8_t from[IP_SIZE];
};

struct log_rate {
    int a_second; /* units; 0: no limit */
    int at_once;  /* the size of the bucket */
};

/* Takes one unit, if there is one. `now` is in microseconds, monotonic. */
bool log_budget_take(int64_t *full_at, const struct log_rate *rate, int64_t now);
/* Charges the rest of a line's cost once its size is known. May overdraw: then the next line waits
 * until the debt is paid. Call it after log_budget_take(). */
void log_budget_charge(int64_t *full_at, const struct log_rate *rate, size_t bytes);

/* The address that a client's lines are charged to; of IPv6 the /64, which is what one customer
 * gets. NULL or no address: all such clients share one budget. */
void log_budget_from(struct log_budget *b, const char *address, unsigned times);

/* The budgets of the busiest addresses. When there are more addresses than entries, some share. */
enum { LOG_ADDRESSES = 1024 };
struct log_addresses {
    struct {
        uint8_t of[IP_SIZE];
        int64_t full_at;
    } v[LOG_ADDRESSES];
    bool has_secret;
    uint8_t secret[SIPHASH_KEY]; /* so that nobody can choose addresses that share an entry */
};
/* The bucket of this address, for log_budget_take(); valid until the next call. */
int64_t *log_addresses_at(struct log_addresses *t, const uint8_t of[IP_SIZE], int64_t now);

#endif
