/* SPDX-License-Identifier: MIT */
/* token.h - what somebody wants who shows a token, and when. */
#ifndef PROTO_TOKEN_TOKEN_H
#define PROTO_TOKEN_TOKEN_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { TOKEN_MAX = 4096 }; /* bytes of a token: more is refused unread */

struct token_query {
    bool publish;                   /* else: play */
    const char *vhost, *app, *name; /* the stream */
    const char *ip;                 /* from this address */
    int64_t now;                    /* seconds since 1970 */
    int64_t *ends;                  /* when what was shown is good no more; NULL: no matter */
};

/* Do these texts mean one address? IPv4 is itself mapped into IPv6. */
bool token_same_ip(const char *a, const char *b);

#endif
