/* SPDX-License-Identifier: MIT */
/* tokens.c - checks the tokens and keys of clients. */
#include "session/tokens.h"

#include "base/must.h"
#include "base/text.h"
#include "co/co.h"
#include "proto/http/url.h"
#include "proto/token/jwt.h"
#include "proto/token/link.h"
#include "session/guard.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct tokens {
    struct jwks_files *files; /* NULL: not read yet */
    struct tokens_stat stat[CONF_PLAY + 1];
};

/* The credentials in the client's query and Authorization header. */
struct shown {
    const char *key, *jwt; /* or NULL */
    size_t key_size, jwt_size;
    bool link;
};

static void find(const char *param, const char *const *names, const char **at, size_t *size)
{
    *at = NULL;
    for (; *names && !*at; names++)
        *at = http_url_param_raw(param, *names, size);
}

static struct shown look(const char *param, const char *bearer)
{
    static const char *const keys[] = { "key", "secret", NULL };
    static const char *const jwts[] = { "jwt", "token", NULL };
    struct shown s = { 0 };
    size_t size;

    find(param, keys, &s.key, &s.key_size);
    find(param, jwts, &s.jwt, &s.jwt_size);
    if (!s.jwt && bearer && strncasecmp(bearer, "Bearer ", 7) == 0) {
        s.jwt = bearer + 7 + strspn(bearer + 7, " ");
        s.jwt_size = strcspn(s.jwt, " ");
    }
    s.link = http_url_param_raw(param, "sign", &size) != NULL;
    return s;
}

/* ---- keys of streams */

/* Returns true if a key is configured for this stream; *same: the client has it. */
static bool has_key(const struct conf_security *s, const char *stream, const struct shown *shown,
                    bool *same)
{
    bool has = false;

    *same = false;
    for (size_t i = 0; i < s->key.n; i++) {
        const struct conf_list *line = &s->key.v[i];

        if (!wildcard_matches(line->v[0], stream))
            continue;
        has = true;
        *same |= shown->key && strlen(line->v[1]) == shown->key_size &&
                 CRYPTO_memcmp(line->v[1], shown->key, shown->key_size) == 0;
    }
    return has;
}

/* ---- links and JWT */

static err_t check_link(const struct conf_security_token *t, const char *param,
                        const struct token_query *ask)
{
    const char *query = param + (*param == '?');
    char expires[16], sign[80], ip[64];
    struct token_link link = {
        .expires = http_url_param(query, "expires", expires, sizeof(expires)),
        .sign = http_url_param(query, "sign", sign, sizeof(sign)),
        .ip = http_url_param(query, "ip", ip, sizeof(ip)),
    };

    if (!link.expires || !link.sign)
        return err_new(ERR_TOKEN, "a link needs both expires and sign");
    return token_link_check(&link, ask, t->secret.v, t->secret.n);
}

static err_t check_jwt(const struct tokens *tokens, const struct conf_security_token *t,
                       const struct shown *shown, const struct token_query *ask)
{
    const struct jwt_rules rules = {
        .secrets = t->jwt_secret.v, .n_secrets = t->jwt_secret.n,
        .keys = tokens && *t->jwks ? jwks_files_find(tokens->files, t->jwks) : NULL,
        .issuer = t->issuer, .audience = t->audience,
    };

    return jwt_check(shown->jwt, shown->jwt_size, &rules, ask);
}

static err_t check_token(const struct tokens *tokens, const struct conf_security_token *t,
                         const struct shown *shown, const char *param,
                         const struct token_query *ask)
{
    if (shown->link && t->secret.n)
        return check_link(t, param, ask);
    if (shown->jwt && (t->jwt_secret.n || *t->jwks))
        return check_jwt(tokens, t, shown, ask);
    return err_new(ERR_TOKEN, "no token to %s", ask->publish ? "publish" : "play");
}

/* ---- the check */

struct verdict {
    bool asked;   /* credentials are required */
    bool wrong;   /* the client has a wrong key */
    bool by_token; /* accepted by a token, not by a key */
    int64_t ends; /* expiry of the credentials, seconds since 1970; 0: never */
};

static err_t check(const struct session_env *env, const struct conf_vhost *vhost,
                   enum conf_action what, const struct session_stream *names,
                   const struct shown *shown, struct verdict *out)
{
    const struct conf_security *s = &vhost->security;
    const struct token_query ask = {
        .publish = what == CONF_PUBLISH, .vhost = vhost->name, .app = names->app,
        .name = names->name, .ip = names->ip, .now = co_wall_ms() / 1000,
        .ends = &out->ends,
    };
    bool token = ask.publish ? s->token.publish : s->token.play, key = false, same = false;
    char *stream;

    if (ask.publish) {
        stream = must_print("%s/%s", names->app, names->name);
        key = has_key(s, stream, shown, &same);
        free(stream);
    }
    out->asked = (token || key) && !conf_security_exempts(s, what, names->ip);
    out->wrong = out->asked && key && shown->key && !same;
    if (!out->asked || same)
        return NULL;
    out->by_token = token && (shown->link || shown->jwt || !key || !shown->key);
    if (out->by_token)
        return check_token(env->tokens, &s->token, shown, names->param, &ask);
    return err_new(ERR_TOKEN, shown->key ? "wrong stream key" : "no stream key");
}

/* Keys can be guessed, so an address that used too many wrong ones is refused even with the right
 * one. Tokens are signed and cannot be guessed, and an expired token is not a guess. */
static err_t check_unless_locked(const struct session_env *env, const struct conf_vhost *vhost,
                                 enum conf_action what, const struct session_stream *names,
                                 const char *bearer, struct verdict *out)
{
    const struct shown shown = look(names->param, bearer);
    bool guesses = what == CONF_PUBLISH && shown.key && vhost->security.key.n > 0;
    co_usec left = guesses ? session_guard_locked(env, GUARD_KEY, names->ip) : 0;
    err_t err = check(env, vhost, what, names, &shown, out);

    if (out->wrong && left == 0)
        session_guard_wrong(env, GUARD_KEY, names->ip, shown.key, shown.key_size);
    if (left == 0 || !out->asked || (!err && out->by_token))
        return err;
    err_free(&err);
    return err_new(ERR_TOKEN, "its address used wrong keys: refused for %lld s",
                   (long long)(left / CO_SECONDS(1) + 1));
}

err_t tokens_check(struct session_env *env, const struct conf_vhost *vhost, enum conf_action what,
                   const struct session_stream *names, const char *bearer, int64_t *ends)
{
    const struct conf_security *s = &vhost->security;
    struct verdict v = { 0 };
    err_t err = NULL;

    if (conf_security_needs_token(s, what))
        err = check_unless_locked(env, vhost, what, names, bearer, &v);
    if (env->tokens && v.asked && err)
        env->tokens->stat[what].denied++;
    else if (env->tokens && v.asked)
        env->tokens->stat[what].ok++;
    if (ends)
        *ends = s->token.at_expiry == CONF_EXPIRY_END ? v.ends : 0;
    return err;
}

bool tokens_prove(const struct session_env *env, const struct conf_vhost *vhost,
                  enum conf_action what, const struct session_stream *names)
{
    const struct shown shown = look(names->param, NULL);
    struct verdict v = { 0 };
    err_t err = NULL;
    bool proved;

    if (conf_security_needs_token(&vhost->security, what))
        err = check(env, vhost, what, names, &shown, &v);
    proved = v.asked && !err;
    err_free(&err);
    return proved;
}

/* ---- token keys of the server */

struct tokens *tokens_new(void)
{
    struct tokens *t = must(calloc(1, sizeof(*t)));

    return t;
}

void tokens_free(struct tokens *t)
{
    if (t)
        (void)jwks_files_unref(t->files);
    free(t);
}

void tokens_take(struct tokens *t, struct jwks_files *files)
{
    (void)jwks_files_unref(t->files);
    t->files = files;
}

void tokens_refresh(struct tokens *t)
{
    struct jwks_files *files = t->files ? jwks_files_ref(t->files) : NULL;

    if (files)
        jwks_files_refresh(files); /* a reload may replace them meanwhile */
    (void)jwks_files_unref(files);
}

const struct tokens_stat *tokens_stat(const struct tokens *t, enum conf_action what)
{
    return &t->stat[what];
}
