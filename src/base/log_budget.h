/* SPDX-License-Identifier: MIT */
/* log_budget.h - token buckets that limit the log lines and bytes that peers cause.
 *
 * Each connection has a budget. Untrusted clients, which neither publish nor play, also
 * share one budget; so do all publishers and players of one address. A budget counts units: a line
 * of up to LOG_UNIT bytes costs one, a longer line costs in proportion to its size. Lines that
 * exceed a budget are counted and reported later in one line. The server's own lines have no
 * budget.
 */
#ifndef BASE_LOG_BUDGET_H
#define BASE_LOG_BUDGET_H

#include "base/ip.h"
#include "base/siphash.h"

#include <stdbool.h>
#include <stdint.h>

enum { LOG_UNIT = 200 }; /* size of a line that costs one unit, bytes */

enum log_source {
    LOG_OURS,      /* no limit */
    LOG_UNTRUSTED,  /* an untrusted client: its own budget and that of all */
    /* a publisher or player: its own budget, its address's and that of all clients */
    LOG_CLIENT,
    LOG_UNTRUSTED_ALL, /* work for many untrusted clients: only the shared budget */
};

/* The budget of one connection; starts zeroed. */
struct log_budget {
    enum log_source source;
    int64_t full_at;   /* when the bucket is full again, microseconds */
    unsigned left_out; /* omitted lines, not reported yet */
    unsigned times;    /* factor of the rate log_rules.address for its address; 0: 1 */
    uint8_t from[IP_SIZE];
};

struct log_rate {
    int a_second; /* units per second; 0: no limit */
    int at_once;  /* size of the bucket, units */
};

/* Takes one unit; false if there is none. `now` is in microseconds, monotonic. */
bool log_budget_take(int64_t *full_at, const struct log_rate *rate, int64_t now);
/* Charges the rest of a line's cost when its size is known, after log_budget_take(). The budget may
 * become negative; then lines are omitted until it has recovered. */
void log_budget_charge(int64_t *full_at, const struct log_rate *rate, size_t bytes);

/* Sets the address to which a client's lines are charged; for IPv6 its /64, which is what one
 * customer gets. NULL or no address: all such clients share one budget. */
void log_budget_from(struct log_budget *b, const char *address, unsigned times);

/* The budgets of the busiest addresses. If there are more addresses than entries, some share one.
 * */
enum { LOG_ADDRESSES = 1024 };
struct log_addresses {
    struct {
        uint8_t of[IP_SIZE];
        int64_t full_at;
    } v[LOG_ADDRESSES];
    bool has_secret;
    uint8_t secret[SIPHASH_KEY]; /* so that no peer can choose addresses that share an entry */
};
/* Returns the bucket of this address, for log_budget_take(); valid until the next call. */
int64_t *log_addresses_at(struct log_addresses *t, const uint8_t of[IP_SIZE], int64_t now);

#endif
