/* SPDX-License-Identifier: MIT */
/* link.h - signed links that expire: ?expires=TIME&sign=SIGNATURE[&ip=ADDRESS].
 *
 * The signature is the HMAC-SHA256 of six lines: publish or play, vhost, app, stream, expires as in
 * the link, ip as in the link or empty. No line feed follows the last line.
 */
#ifndef PROTO_TOKEN_LINK_H
#define PROTO_TOKEN_LINK_H

#include "proto/token/token.h"

#include <stddef.h>

enum { TOKEN_SIGN_HEX = 64 };

struct token_link {
    const char *expires; /* seconds since 1970, in digits */
    const char *sign;    /* in hex or base64url */
    const char *ip;      /* NULL: any address */
};

/* Verifies that the link permits the request and is signed with one of these secrets. ERR_TOKEN has
 * the reason. */
err_t token_link_check(const struct token_link *link, const struct token_query *query,
                       const char *const *secrets, size_t n) __attribute__((warn_unused_result));

/* Signs the request; writes hexadecimal text. link->sign is not read. */
void token_link_sign(const struct token_link *link, const struct token_query *query,
                     const char *secret, char hex[TOKEN_SIGN_HEX + 1]);

#endif
