/* SPDX-License-Identifier: MIT */
/* guard.h - requests that the API refused, counted by reason. Addresses that guess passwords are
 * locked by session/guard.h. */
#ifndef APP_API_GUARD_H
#define APP_API_GUARD_H

#include "co/co.h"

#include <stdbool.h>
#include <stdint.h>

/* Why a request was refused. */
enum api_denial {
    API_DENIAL_PASSWORD, /* a wrong one */
    API_DENIAL_LOCKED,   /* its address gave too many */
    API_DENIAL_ADDRESS,  /* it would change something, and comes from another machine */
    API_DENIAL_PAGE,     /* the same, by a page of another site */
    API_DENIAL_PUBLIC,   /* it comes from a public address, and no password is set */
    API_DENIALS,
};

struct api_guard; /* owned by the API */

struct api_guard *api_guard_new(void);
void api_guard_free(struct api_guard *g);

/* Counts it, and writes a line unless there was one in the second before: how many were left out
 * stands in the next. */
void api_guard_deny(struct api_guard *g, enum api_denial why, co_usec now, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
uint64_t api_guard_denied(const struct api_guard *g, enum api_denial why);
const char *api_guard_name(enum api_denial why); /* "password" ... */

#endif
