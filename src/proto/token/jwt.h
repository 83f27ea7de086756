/* SPDX-License-Identifier: MIT */
/* jwt.h - verifies JSON Web Tokens that permit publishing and playing: RFC 7515, 7518, 7519.
 *
 * HS256 with secrets, RS256 and ES256 with public keys: the key decides the algorithm, regardless
 * of what the token says. `exp` is required. `publish` and `play` are an "app/stream" or a list of
 * them; a star at the end matches any suffix. `vhost` and `ip`, if present, must match the client.
 * The claims are parsed only after the signature was verified.
 */
#ifndef PROTO_TOKEN_JWT_H
#define PROTO_TOKEN_JWT_H

#include "proto/token/jwk.h"
#include "proto/token/token.h"

enum { JWT_LEEWAY = 30 }; /* tolerated clock difference, in seconds */

struct jwt_rules {
    const char *const *secrets; /* for HS256 */
    size_t n_secrets;
    const struct jwk_set *keys; /* for RS256 and ES256; NULL: none */
    const char *issuer, *audience; /* "": any */
};

/* Verifies a token. ERR_TOKEN has the reason, without the token. A signature takes at most 0.1 ms,
 * and up to four keys are tried if the token does not name one. */
err_t jwt_check(const char *token, size_t size, const struct jwt_rules *rules,
                const struct token_query *query) __attribute__((warn_unused_result));

#endif
