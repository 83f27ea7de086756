/* SPDX-License-Identifier: MIT */
/* login.c - users, passwords and roles of rtsp { auth }.
 *
 * A client authenticates once for each stream of a connection, before any callback is called. A
 * wrong password delays its connection by a second, and the fifth one closes it; session/guard.h
 * locks the address. A request without credentials, or with an expired nonce, does not count as
 * wrong.
 */
#include "base/log.h"
#include "serve/rtsp/session.h"
#include "session/guard.h"

#include <string.h>

#define WRONG_PAUSE CO_SECONDS(1)

/* Context of a password lookup: the vhost, and the line that was found. */
struct user_lookup {
    const struct conf_vhost *vhost;
    const struct conf_list *line; /* NULL: not found */
};

static const char *password_of(void *arg, const char *user)
{
    struct user_lookup *lookup = arg;
    const struct conf_commands *lines = &lookup->vhost->rtsp.auth.user;

    lookup->line = NULL;
    for (size_t i = 0; i < lines->n && !lookup->line; i++) { /* a line has name, password, roles */
        if (strcmp(lines->v[i].v[0], user) == 0)
            lookup->line = &lines->v[i];
    }
    return lookup->line ? lookup->line->v[1] : NULL;
}

/* Returns the roles of a user; a line without roles grants all. */
static unsigned roles_of(const struct conf_list *line)
{
    unsigned roles = 0;

    for (size_t i = 2; i < line->n; i++)
        roles |= 1u << (strcmp(line->v[i], "play") == 0 ? RTSP_PLAYER : RTSP_PUBLISHER);
    return roles ? roles : 1u << RTSP_PLAYER | 1u << RTSP_PUBLISHER;
}

static struct rtsp_auth_rules rules_of(struct user_lookup *lookup)
{
    const struct conf_rtsp_auth *auth = &lookup->vhost->rtsp.auth;

    return (struct rtsp_auth_rules){
        .realm = auth->realm, .password = password_of, .arg = lookup,
        .schemes = (auth->basic ? RTSP_AUTH_BASIC : 0u) | (auth->md5 ? RTSP_AUTH_MD5 : 0u) |
                (auth->sha256 ? RTSP_AUTH_SHA256 : 0u),
    };
}

/* Delays the connection by a second after a wrong password, and ends it after several. Yields. */
static err_t delay_wrong(const struct rtsp_conn *c)
{
    err_t err = co_sleep(WRONG_PAUSE);

    if (err || c->auth.failures < RTSP_AUTH_FAILURES)
        return err;
    return err_new(ERR_DENIED, "%u failed logins", c->auth.failures);
}

/* Sends 401 with challenges, and delays a wrong password. */
static err_t reject(struct rtsp_exchange *x, const struct rtsp_auth_rules *rules,
                    enum rtsp_auth_result result)
{
    struct rtsp_conn *c = x->c;
    err_t err = NULL;

    if (result == RTSP_AUTH_WRONG) {
        log_warn("RTSP login failed, stream=%s, attempt %u", c->path, c->auth.failures);
        session_guard_wrong(c->base.env, GUARD_RTSP, c->tcp.ip, NULL, 0);
        err = delay_wrong(c);
    }
    if (err)
        return err;
    rtsp_exchange_put(x, 401);
    rtsp_auth_put(&c->auth, rules, co_now(), x->w);
    rtsp_put_body(x->w, NULL, 0);
    return NULL;
}

/* Rejects a client whose address is locked, without checking its credentials. Sends no 401, which
 * would make the client ask its user again. */
static err_t reject_locked(struct rtsp_exchange *x, co_usec left, int *status)
{
    long long seconds = left / CO_SECONDS(1) + 1;
    struct rtsp_conn *c = x->c;
    err_t err;

    if (c->auth.failures++ == 0)
        log_warn("RTSP login of %s is locked for %lld s after too many failures", c->tcp.ip,
                 seconds);
    err = delay_wrong(c);
    if (err)
        return err;
    *status = 403;
    rtsp_exchange_put(x, 403);
    rtsp_put_format(x->w, "Retry-After", "%lld", seconds);
    rtsp_put_body(x->w, NULL, 0);
    return NULL;
}

static err_t authenticate(struct rtsp_exchange *x, int *status)
{
    struct rtsp_conn *c = x->c;
    struct user_lookup lookup = { .vhost = c->base.vhost };
    struct rtsp_auth_rules rules = rules_of(&lookup);
    const char *credentials = rtsp_message_field(x->req, "Authorization");
    co_usec left = credentials ? session_guard_locked(c->base.env, GUARD_RTSP, c->tcp.ip) : 0;
    enum rtsp_auth_result result;

    if (left > 0)
        return reject_locked(x, left, status);
    result = rtsp_auth_check(&c->auth, &rules, x->req, co_now());
    if (result != RTSP_AUTH_RIGHT) {
        *status = 401;
        return reject(x, &rules, result);
    }
    c->logged_in = true;
    c->roles = roles_of(lookup.line);
    return NULL;
}

err_t rtsp_conn_login(struct rtsp_exchange *x, enum rtsp_role role, int *status)
{
    struct rtsp_conn *c = x->c;
    err_t err;

    if (!c->base.vhost->rtsp.auth.enabled)
        return NULL;
    if (!c->logged_in) {
        err = authenticate(x, status);
        if (err || *status)
            return err;
    }
    if (c->roles & 1u << role)
        return NULL;
    c->logged_in = false; /* the client may authenticate as another user */
    return err_new(ERR_DENIED, "the user may not %s", role == RTSP_PUBLISHER ? "publish" : "play");
}
