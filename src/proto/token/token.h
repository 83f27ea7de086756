/* SPDX-License-Identifier: MIT */
/* token.h - the request of a client that presents a token. */
#ifndef PROTO_TOKEN_TOKEN_H
#define PROTO_TOKEN_TOKEN_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { TOKEN_MAX = 4096 }; /* largest token, in bytes: larger ones are refused unread */

struct token_query {
    bool publish;                   /* otherwise play */
    const char *vhost, *app, *name; /* the stream */
    const char *ip;                 /* address of the client */
    int64_t now;                    /* seconds since 1970 */
    int64_t *ends;                  /* receives when the token expires; NULL: not needed */
};

/* Returns whether both texts are the same address. IPv4 equals its mapped IPv6 form. */
bool token_same_ip(const char *a, const char *b);

#endif
