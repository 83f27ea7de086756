/* SPDX-License-Identifier: MIT */
/* check_token.c - checks tokens and stream keys of a vhost. */
#include "conf/check.h"

#include <stdio.h>
#include <string.h>

/* RFC 7518 3.2: an HS256 key is at least as long as its hash. Stream keys are typed by hand. */
enum { SECRET_SHORT = 32, KEY_SHORT = 8, SECRET_MAX = 1024 };

/* Characters that need no escaping in a URL. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";

static err_t check_key(const struct conf_list *line)
{
    const char *wildcard;

    if (line->n != 2 || !*line->v[1])
        return err_new(ERR_CONF, "key takes two words: app/stream and the key");
    wildcard = strchr(line->v[0], '*');
    if (wildcard && wildcard[1])
        return err_new(ERR_CONF, "key %.60s: a * is only allowed at the end", line->v[0]);
    if (!wildcard && !strchr(line->v[0], '/'))
        return err_new(ERR_CONF, "key %.60s: expected app/stream", line->v[0]);
    if (line->v[1][strspn(line->v[1], plain)])
        return err_new(ERR_CONF, "key of %.60s: only letters, digits and - . _ ~ are allowed",
                       line->v[0]);
    return NULL;
}

static err_t check_secrets(const struct conf_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++) {
        if (!*list->v[i] || strlen(list->v[i]) > SECRET_MAX)
            return err_new(ERR_CONF, "%s must have 1 to %d bytes", name, SECRET_MAX);
    }
    return NULL;
}

/* Only playlist requests have a token; later requests are authorized by the session id. */
static err_t check_sessions(const struct conf_vhost *v)
{
    if (!conf_security_needs_token(&v->security, CONF_PLAY))
        return NULL;
    if (v->hls.enabled && !v->hls.ctx)
        return err_new(ERR_CONF, "play on needs hls_ctx on; for caches use hls_ts_ctx off");
    if (v->dash.enabled && !v->dash.ctx)
        return err_new(ERR_CONF, "play on needs dash_ctx on; for caches use dash_ts_ctx off");
    return NULL;
}

err_t conf_check_token(const struct conf_vhost *v)
{
    const struct conf_security *s = &v->security;
    const struct conf_security_token *t = &s->token;
    err_t err = check_secrets(&t->secret, "secret");

    if (!err)
        err = check_secrets(&t->jwt_secret, "jwt_secret");
    for (size_t i = 0; i < s->key.n && !err; i++)
        err = check_key(&s->key.v[i]);
    if (!err && s->enabled && (t->publish || t->play) && !t->secret.n && !t->jwt_secret.n &&
        !*t->jwks)
        err = err_new(ERR_CONF, "no way to check a token: write secret, jwt_secret or jwks");
    if (!err)
        err = check_sessions(v);
    return err ? err_wrap(err, "security.token") : NULL;
}

static void warn_short(const struct conf_list *list, const char *name,
                       const struct conf_vhost *v, const struct conf_ctx *ctx)
{
    for (size_t i = 0; i < list->n; i++) {
        if (strlen(list->v[i]) < SECRET_SHORT)
            conf_warn(ctx, "vhost %.60s: %s of %zu bytes can be guessed, use %d: openssl rand "
                      "-hex 16", v->name, name, strlen(list->v[i]), SECRET_SHORT);
    }
}

void conf_warn_token(const struct conf_vhost *v, const struct conf_ctx *ctx)
{
    const struct conf_security *s = &v->security;

    if (!s->enabled)
        return;
    warn_short(&s->token.secret, "a secret", v, ctx);
    warn_short(&s->token.jwt_secret, "a jwt_secret", v, ctx);
    for (size_t i = 0; i < s->key.n; i++) {
        if (strlen(s->key.v[i].v[1]) < KEY_SHORT)
            conf_warn(ctx, "vhost %.60s: the key of %.60s can be guessed, use %d characters or "
                      "more",
                      v->name, s->key.v[i].v[0], KEY_SHORT);
    }
}
