/* SPDX-License-Identifier: MIT */
/* link.h - links that are signed and expire: ?expires=TIME&sign=SIGNATURE[&ip=ADDRESS].
 *
 * The signature is the HMAC-SHA256 of six lines: publish or play, vhost, app, stream, expires as it
 * stands in the link, ip as it stands there or nothing. There is no line feed behind the last.
 */
#ifndef PROTO_TOKEN_LINK_H
#define PROTO_TOKEN_LINK_H

#include "proto/token/token.h"

#include <stddef.h>

enum { TOKEN_SIGN_HEX = 64 };

struct token_link {
    const char *expires; /* seconds since 1970, in digits */
    const char *sign;    /* in hex or base64url */
    const char *ip;      /* NULL: for every address */
};

/* May who shows this link do what he asks for? Signed by any of these secrets. ERR_TOKEN says why
 * not. */
err_t token_link_check(const struct token_link *link, const struct token_query *ask,
                       const char *const *secrets, size_t n) __attribute__((warn_unused_result));

/* Sign what is asked for: the hex text. link->sign is not read. */
void token_link_sign(const struct token_link *link, const struct token_query *ask,
                     const char *secret, char hex[TOKEN_SIGN_HEX + 1]);

#endif
