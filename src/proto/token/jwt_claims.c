/* SPDX-License-Identifier: MIT */
/* jwt_claims.c - what a JSON Web Token says: when, from whom, for whom, what. */
#include "base/jflat.h"
#include "base/must.h"
#include "base/star.h"
#include "proto/token/jwt.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 8, VALUES = 512 };

/* RFC 7519 2: a NumericDate may have a fraction, and be anything. */
static long long seconds(double d)
{
    return d > 1e15 ? (long long)1e15 : d < -1e15 ? (long long)-1e15 : (long long)d;
}

static err_t check_time(const json_t *claims, const struct token_ask *ask)
{
    const json_t *exp = json_object_get(claims, "exp"), *nbf = json_object_get(claims, "nbf");
    double late, early;

    if (!json_is_number(exp))
        return err_new(ERR_TOKEN, "the JWT has no exp: it must end at some time");
    if (nbf && !json_is_number(nbf))
        return err_new(ERR_TOKEN, "nbf of the JWT is no number");
    late = (double)ask->now - json_number_value(exp);
    early = nbf ? json_number_value(nbf) - (double)ask->now : 0;
    if (late >= JWT_LEEWAY)
        return err_new(ERR_TOKEN, "the JWT expired %lld s ago", seconds(late));
    if (early > JWT_LEEWAY)
        return err_new(ERR_TOKEN, "the JWT begins in %lld s", seconds(early));
    if (ask->ends)
        *ask->ends = ask->now + JWT_LEEWAY - seconds(floor(late));
    return NULL;
}

typedef bool is_it(const char *said, const char *wanted);

static bool same(const char *said, const char *wanted)
{
    return strcmp(said, wanted) == 0;
}

/* One text, or one of a list. */
static bool has(const json_t *v, const char *wanted, is_it *is)
{
    if (json_is_string(v))
        return is(json_string_value(v), wanted);
    for (size_t i = 0; i < json_array_size(v); i++) {
        const char *said = json_string_value(json_array_get(v, i));

        if (said && is(said, wanted))
            return true;
    }
    return false;
}

static err_t check_whom(const json_t *claims, const struct jwt_rules *rules,
                        const struct token_ask *ask)
{
    const json_t *iss = json_object_get(claims, "iss"), *aud = json_object_get(claims, "aud");
    const json_t *vhost = json_object_get(claims, "vhost"), *ip = json_object_get(claims, "ip");

    if (*rules->issuer && !(json_is_string(iss) && has(iss, rules->issuer, same)))
        return err_new(ERR_TOKEN, "the JWT is of another issuer");
    if (*rules->audience && !has(aud, rules->audience, same))
        return err_new(ERR_TOKEN, "the JWT is for another audience");
    if (vhost && !has(vhost, ask->vhost, same))
        return err_new(ERR_TOKEN, "the JWT is for another vhost");
    if (ip && !has(ip, ask->ip, token_same_ip))
        return err_new(ERR_TOKEN, "the JWT is for another address");
    return NULL;
}

static err_t check_what(const json_t *claims, const struct token_ask *ask)
{
    const char *claim = ask->publish ? "publish" : "play";
    char *stream = must_print("%s/%s", ask->app, ask->name);
    bool may;

    may = has(json_object_get(claims, claim), stream, star_is_for);
    free(stream);
    return may ? NULL : err_new(ERR_TOKEN, "the JWT does not let %s it", claim);
}

err_t jwt_claims_check(const char *text, size_t size, const struct jwt_rules *rules,
                       const struct token_ask *ask)
{
    json_t *claims = NULL;
    err_t err;

    if (jflat_is(text, size, DEPTH, VALUES))
        claims = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(claims))
        err = check_time(claims, ask);
    else
        err = err_new(ERR_TOKEN, "the claims of the JWT are no JSON object");
    if (!err)
        err = check_whom(claims, rules, ask);
    if (!err)
        err = check_what(claims, ask);
    json_decref(claims);
    return err;
}
