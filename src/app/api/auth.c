/* SPDX-License-Identifier: MIT */
/* auth.c - authentication for the API: RFC 7617, RFC 6750. */
#include "app/api/auth.h"

#include "app/api/change.h"
#include "proto/http/basic.h"
#include "session/guard.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { TOKEN_MAX = 1024 };

bool api_auth_is(const char *value, const char *username, const char *password)
{
    char given[HTTP_BASIC_MAX], wanted[HTTP_BASIC_MAX];
    size_t size;
    int want;

    if (!http_basic_get(value, given, &size))
        return false;
    want = snprintf(wanted, sizeof(wanted), "%s:%s", username, password);
    return want < (int)sizeof(wanted) && http_basic_same(given, size, wanted, (size_t)want);
}

bool api_auth_is_token(const char *value, const char *token)
{
    size_t n;

    if (!value || !*token || strncasecmp(value, "Bearer ", 7) != 0)
        return false;
    value += 7 + strspn(value + 7, " ");
    n = strlen(value);
    return n <= TOKEN_MAX && http_basic_same(value, n, token, strlen(token));
}

static bool proves(const struct conf_auth *auth, const char *given)
{
    if (auth->type == CONF_AUTH_BEARER)
        return api_auth_is_token(given, auth->token);
    return api_auth_is(given, auth->username, auth->password);
}

/* Scripts expect exactly "Bearer". */
static err_t challenge(struct http_exchange *x)
{
    bool bearer = x->conf->http_api.auth.type == CONF_AUTH_BEARER;

    http_response_add(x->resp, "WWW-Authenticate", "%s",
                      bearer ? "Bearer" : "Basic realm=\"srs\", charset=\"UTF-8\"");
    return http_response_status(x->resp, 401);
}

static err_t refuse_locked(struct api_guard *g, struct http_exchange *x, co_usec left)
{
    api_guard_deny(g, API_DENIAL_LOCKED, co_clock(), "request from %s, which is locked", x->ip);
    http_response_add(x->resp, "Retry-After", "%lld", (long long)(left / CO_SECONDS(1) + 1));
    return http_response_status(x->resp, 429);
}

static err_t refuse_wrong(struct api_guard *g, struct http_exchange *x)
{
    const struct conf_auth *auth = &x->conf->http_api.auth;
    const struct guard_rule rule = { auth->attempts, auth->lock };
    co_usec now = co_clock();
    int wrong = guard_wrong(x->env->guard, GUARD_API, x->ip, &rule, NULL, 0, now);
    err_t err;

    if (rule.attempts > 0 && wrong >= rule.attempts)
        api_guard_deny(g, API_DENIAL_PASSWORD, now, "%s is locked for %lld s after %d wrong "
                       "ones", x->ip, (long long)(rule.lock / CO_SECONDS(1)), wrong);
    else
        api_guard_deny(g, API_DENIAL_PASSWORD, now, "wrong %s from %s, number %d",
                       auth->type == CONF_AUTH_BEARER ? "token" : "user or password", x->ip,
                       wrong);
    err = co_sleep(auth->delay);
    return err ? err : challenge(x);
}

static err_t ask(struct api_guard *g, struct http_exchange *x, enum api_who *who)
{
    const char *given = http_request_field(x->req, "Authorization");
    co_usec left;

    *who = API_REFUSED;
    if (!given)
        return challenge(x);
    left = guard_locked(x->env->guard, GUARD_API, x->ip, co_clock());
    if (left > 0)
        return refuse_locked(g, x, left);
    if (!proves(&x->conf->http_api.auth, given))
        return refuse_wrong(g, x);
    *who = API_TRUSTED;
    return NULL;
}

err_t api_auth_ask(struct api_guard *g, struct http_exchange *x, bool told, enum api_who *who)
{
    *who = API_ANYBODY;
    if (!(x->ports & (HTTP_PORT_API | HTTP_PORT_EXPORTER)))
        return NULL;
    if (x->conf->http_api.auth.enabled)
        return ask(g, x, who);
    if (told || api_change_may_read(x))
        return NULL;
    *who = API_REFUSED;
    return api_change_refuse_public(g, x);
}

err_t api_auth_ask_token(struct http_exchange *x, void *guard)
{
    enum api_who who = API_ANYBODY;
    err_t err = conf_auth_of_rtc(&x->conf->http_api.auth) ? ask(guard, x, &who) : NULL;

    x->declined = !err && who != API_REFUSED; /* passes it to the next handler */
    return err;
}
