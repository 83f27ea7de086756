/* SPDX-License-Identifier: MIT */
/* login.c - who a client is, where its vhost wants to know: users and passwords of rtsp { auth }.
 *
 * Asked once for each stream of a connection, before any callback is. A guess that was wrong costs
 * its connection a second, and five of them the connection. */
#include "base/log.h"
#include "serve/rtsp/conn.h"

#include <string.h>

#define WRONG_PAUSE CO_SECONDS(1)

static const char *password_of(const void *vhost, const char *user)
{
    const struct conf_commands *lines = &((const struct conf_vhost *)vhost)->rtsp.auth.user;

    for (size_t i = 0; i < lines->n; i++) { /* name and password */
        if (strcmp(lines->v[i].v[0], user) == 0)
            return lines->v[i].v[1];
    }
    return NULL;
}

static struct rtsp_auth_rules rules_of(const struct conf_vhost *vhost)
{
    const struct conf_rtsp_auth *auth = &vhost->rtsp.auth;

    return (struct rtsp_auth_rules){
        .realm = auth->realm, .password = password_of, .arg = vhost,
        .ways = (auth->basic ? RTSP_AUTH_BASIC : 0u) | (auth->md5 ? RTSP_AUTH_MD5 : 0u) |
                (auth->sha256 ? RTSP_AUTH_SHA256 : 0u),
    };
}

/* 401 with its challenges, and what a guess costs. */
static err_t refuse(struct rtsp_asked *a, const struct rtsp_auth_rules *rules,
                    enum rtsp_auth_said said)
{
    struct rtsp_conn *c = a->c;
    err_t err = NULL;

    if (said == RTSP_AUTH_WRONG) {
        log_warn("RTSP login is wrong, stream=%s, try %u", c->path, c->auth.failures);
        err = co_sleep(WRONG_PAUSE);
    }
    if (!err && c->auth.failures >= RTSP_AUTH_FAILURES)
        err = err_new(ERR_DENIED, "%u logins that are wrong", c->auth.failures);
    if (err)
        return err;
    rtsp_asked_put(a, 401);
    rtsp_auth_put(&c->auth, rules, co_now(), a->w);
    rtsp_put_body(a->w, NULL, 0);
    return NULL;
}

err_t rtsp_conn_login(struct rtsp_asked *a, int *status)
{
    struct rtsp_conn *c = a->c;
    struct rtsp_auth_rules rules = rules_of(c->base.vhost);
    enum rtsp_auth_said said;

    if (c->logged_in || !c->base.vhost->rtsp.auth.enabled)
        return NULL;
    said = rtsp_auth_check(&c->auth, &rules, a->req, co_now());
    c->logged_in = said == RTSP_AUTH_RIGHT;
    if (c->logged_in)
        return NULL;
    *status = 401;
    return refuse(a, &rules, said);
}
