/* SPDX-License-Identifier: MIT */
/* guard.h - wrong passwords: who gave them, who is locked for it, and how much was refused.
 *
 * An address counts as the server knows it; one of IPv6 by its first 64 bits, which one customer
 * has. There is room for so many addresses and no more: the one that matters least makes place.
 */
#ifndef APP_API_GUARD_H
#define APP_API_GUARD_H

#include "co/co.h"

#include <stdbool.h>
#include <stdint.h>

enum { API_GUARD_ADDRESSES = 1024 };

/* Why a request was refused. */
enum api_denial {
    API_DENIAL_PASSWORD, /* a wrong one */
    API_DENIAL_LOCKED,   /* its address gave too many */
    API_DENIAL_ADDRESS,  /* it would change something, and comes from another machine */
    API_DENIAL_PAGE,     /* the same, by a page of another site */
    API_DENIAL_PUBLIC,   /* it comes from a public address, and no password is set */
    API_DENIALS,
};

struct api_guard_rule {
    int attempts; /* wrong ones before the address is locked; 0: it never is */
    co_usec lock; /* so long, and so long a wrong one is remembered */
};

struct api_guard; /* owned by the API */

struct api_guard *api_guard_new(void);
void api_guard_free(struct api_guard *g);

/* How long this address is still locked; 0: it is not. */
co_usec api_guard_locked(const struct api_guard *g, const char *ip, co_usec now);
/* It gave a wrong password: how many so far. That of rule->attempts locks it. */
int api_guard_wrong(struct api_guard *g, const char *ip, const struct api_guard_rule *rule,
                    co_usec now);

/* Counts it, and writes a line unless there was one in the second before: how many were left out
 * stands in the next. */
void api_guard_deny(struct api_guard *g, enum api_denial why, co_usec now, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
uint64_t api_guard_denied(const struct api_guard *g, enum api_denial why);
const char *api_guard_name(enum api_denial why); /* "password" ... */

#endif
