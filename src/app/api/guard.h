/* SPDX-License-Identifier: MIT */
/* guard.h - counts and logs refused API requests by reason. session/guard.h locks addresses that
 * guess passwords. */
#ifndef APP_API_GUARD_H
#define APP_API_GUARD_H

#include "co/co.h"

#include <stdbool.h>
#include <stdint.h>

/* The reason of a refusal. */
enum api_denial {
    API_DENIAL_PASSWORD, /* wrong password */
    API_DENIAL_LOCKED,   /* too many wrong passwords from this address */
    API_DENIAL_ADDRESS,  /* a change requested from another machine */
    API_DENIAL_PAGE,     /* a change requested by a page of another site */
    API_DENIAL_PUBLIC,   /* a request from a public address, and no password is set */
    API_DENIALS,
};

struct api_guard; /* owned by the API */

struct api_guard *api_guard_new(void);
void api_guard_free(struct api_guard *g);

/* Counts a refusal and logs it, at most one line per second; the next line has the number of
 * omitted ones. */
void api_guard_deny(struct api_guard *g, enum api_denial why, co_usec now, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
uint64_t api_guard_denied(const struct api_guard *g, enum api_denial why);
const char *api_guard_name(enum api_denial why); /* "password" ... */

#endif
