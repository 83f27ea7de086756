/* SPDX-License-Identifier: MIT */
/* jwt.h - JSON Web Tokens that say who may publish and play what: RFC 7515, 7518, 7519.
 *
 * HS256 by secrets, RS256 and ES256 by public keys: what a key is decides what is checked by it,
 * whatever the token says. `exp` must be there. `publish` and `play` are an "app/stream" or a list
 * of them; a star at the end stands for whatever follows. `vhost` and `ip`, where they are there,
 * must be those of the client. Nothing of the claims is read before the signature is known to be
 * right.
 */
#ifndef PROTO_TOKEN_JWT_H
#define PROTO_TOKEN_JWT_H

#include "proto/token/jwk.h"
#include "proto/token/token.h"

enum { JWT_LEEWAY = 30 }; /* seconds that clocks may differ */

struct jwt_rules {
    const char *const *secrets; /* for HS256 */
    size_t n_secrets;
    const struct jwk_set *keys; /* for RS256 and ES256; NULL: none */
    const char *issuer, *audience; /* "": any */
};

/* ERR_TOKEN says why not, without the token. A signature takes 0.1 ms at most, and four keys are
 * tried where the token does not say which. */
err_t jwt_check(const char *token, size_t size, const struct jwt_rules *rules,
                const struct token_query *ask) __attribute__((warn_unused_result));

#endif
