/* SPDX-License-Identifier: MIT */
/* login.c - users, passwords and roles of rtsp { auth }.
 *
 * A client logs in once for each stream of a connection, before any callback is asked. A wrong
 * password costs its connection a second, and five of them the connection; session/guard.h locks
 * the address. A request without credentials, or with a nonce that is over, is no wrong one. */
#include "base/log.h"
#include "serve/rtsp/session.h"
#include "session/guard.h"

#include <string.h>

#define WRONG_PAUSE CO_SECONDS(1)

/* Whose password is asked for, and the line that was found for it. */
struct asked_user {
    const struct conf_vhost *vhost;
    const struct conf_list *line; /* NULL: none */
};

static const char *password_of(void *arg, const char *user)
{
    struct asked_user *asked = arg;
    const struct conf_commands *lines = &asked->vhost->rtsp.auth.user;

    asked->line = NULL;
    for (size_t i = 0; i < lines->n && !asked->line; i++) { /* name, password, roles */
        if (strcmp(lines->v[i].v[0], user) == 0)
            asked->line = &lines->v[i];
    }
    return asked->line ? asked->line->v[1] : NULL;
}

/* What a user may do; a line without a word for it: all. */
static unsigned roles_of(const struct conf_list *line)
{
    unsigned may = 0;

    for (size_t i = 2; i < line->n; i++)
        may |= 1u << (strcmp(line->v[i], "play") == 0 ? RTSP_PLAYER : RTSP_PUBLISHER);
    return may ? may : 1u << RTSP_PLAYER | 1u << RTSP_PUBLISHER;
}

static struct rtsp_auth_rules rules_of(struct asked_user *asked)
{
    const struct conf_rtsp_auth *auth = &asked->vhost->rtsp.auth;

    return (struct rtsp_auth_rules){
        .realm = auth->realm, .password = password_of, .arg = asked,
        .schemes = (auth->basic ? RTSP_AUTH_BASIC : 0u) | (auth->md5 ? RTSP_AUTH_MD5 : 0u) |
                (auth->sha256 ? RTSP_AUTH_SHA256 : 0u),
    };
}

/* A guess costs its connection a second, and after several of them the connection ends. Yields. */
static err_t pay_for_guess(const struct rtsp_conn *c)
{
    err_t err = co_sleep(WRONG_PAUSE);

    if (err || c->auth.failures < RTSP_AUTH_FAILURES)
        return err;
    return err_new(ERR_DENIED, "%u logins that are wrong", c->auth.failures);
}

/* 401 with its challenges, and what a guess costs. */
static err_t refuse(struct rtsp_asked *a, const struct rtsp_auth_rules *rules,
                    enum rtsp_auth_result said)
{
    struct rtsp_conn *c = a->c;
    err_t err = NULL;

    if (said == RTSP_AUTH_WRONG) {
        log_warn("RTSP login is wrong, stream=%s, try %u", c->path, c->auth.failures);
        session_guard_wrong(c->base.env, GUARD_RTSP, c->tcp.ip, NULL, 0);
        err = pay_for_guess(c);
    }
    if (err)
        return err;
    rtsp_asked_put(a, 401);
    rtsp_auth_put(&c->auth, rules, co_now(), a->w);
    rtsp_put_body(a->w, NULL, 0);
    return NULL;
}

/* Its address guessed too often: what it says is not looked at. No 401, on which it would ask its
 * user again. */
static err_t refuse_locked(struct rtsp_asked *a, co_usec left, int *status)
{
    long long seconds = left / CO_SECONDS(1) + 1;
    struct rtsp_conn *c = a->c;
    err_t err;

    if (c->auth.failures++ == 0)
        log_warn("RTSP login of %s is refused for %lld s: too many were wrong", c->tcp.ip, seconds);
    err = pay_for_guess(c);
    if (err)
        return err;
    *status = 403;
    rtsp_asked_put(a, 403);
    rtsp_put_format(a->w, "Retry-After", "%lld", seconds);
    rtsp_put_body(a->w, NULL, 0);
    return NULL;
}

static err_t ask(struct rtsp_asked *a, int *status)
{
    struct rtsp_conn *c = a->c;
    struct asked_user asked = { .vhost = c->base.vhost };
    struct rtsp_auth_rules rules = rules_of(&asked);
    const char *shown = rtsp_message_field(a->req, "Authorization");
    co_usec left = shown ? session_guard_locked(c->base.env, GUARD_RTSP, c->tcp.ip) : 0;
    enum rtsp_auth_result said;

    if (left > 0)
        return refuse_locked(a, left, status);
    said = rtsp_auth_check(&c->auth, &rules, a->req, co_now());
    if (said != RTSP_AUTH_RIGHT) {
        *status = 401;
        return refuse(a, &rules, said);
    }
    c->logged_in = true;
    c->may = roles_of(asked.line);
    return NULL;
}

err_t rtsp_conn_login(struct rtsp_asked *a, enum rtsp_role role, int *status)
{
    struct rtsp_conn *c = a->c;
    err_t err;

    if (!c->base.vhost->rtsp.auth.enabled)
        return NULL;
    if (!c->logged_in) {
        err = ask(a, status);
        if (err || *status)
            return err;
    }
    if (c->may & 1u << role)
        return NULL;
    c->logged_in = false; /* it may come as another one */
    return err_new(ERR_DENIED, "its user may not %s", role == RTSP_PUBLISHER ? "publish" : "play");
}
