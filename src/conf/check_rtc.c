/* SPDX-License-Identifier: MIT */
/* check_rtc.c - what WebRTC is served by: it fits together. */
#include "conf/check.h"

#include <string.h>

err_t conf_check_rtc_server(const struct conf *c, const struct conf_source *src)
{
    const struct conf_rtc_server *r = &c->rtc_server;

    (void)src;
    if (!r->enabled)
        return NULL;
    if (r->listen.n == 0)
        return err_new(ERR_CONF, "rtc_server: it is on and has no listen");
    if (r->protocol != CONF_RTC_UDP && !r->tcp.enabled)
        return err_new(ERR_CONF, "rtc_server: protocol is %s, and tcp is off: write "
                       "tcp { enabled on; }", r->protocol == CONF_RTC_TCP ? "tcp" : "all");
    return NULL;
}

static bool is_one_of(const char *word, const char *const words[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(word, words[i]) == 0)
            return true;
    }
    return false;
}

err_t conf_check_rtc(const struct conf_vhost *v)
{
    static const char *const roles[] = { "active", "passive" };
    static const char *const versions[] = { "auto", "dtls1.0", "dtls1.2" };

    if (!is_one_of(v->rtc.dtls_role, roles, 2))
        return err_new(ERR_CONF, "rtc: dtls_role is active or passive, not \"%.20s\"",
                       v->rtc.dtls_role);
    if (!is_one_of(v->rtc.dtls_version, versions, 3))
        return err_new(ERR_CONF, "rtc: dtls_version is auto, dtls1.2 or dtls1.0, not \"%.20s\"",
                       v->rtc.dtls_version);
    return NULL;
}

/* Both are needed, in two places. */
void conf_warn_rtc(const struct conf *c, const struct conf_ctx *ctx)
{
    bool served = false;

    for (size_t i = 0; i < c->vhost.n; i++) {
        const struct conf_vhost *v = &c->vhost.v[i];

        served |= v->rtc.enabled;
        if (v->rtc.enabled && !c->rtc_server.enabled)
            conf_warn(ctx, "vhost %.60s: rtc is on and has no effect: rtc_server is off", v->name);
    }
    if (c->http_api.auth.rtc_bearer && !conf_auth_of_rtc(&c->http_api.auth))
        conf_warn(ctx, "http_api.auth: rtc_bearer_enabled has no effect without enabled on and "
                  "type bearer");
    if (!c->rtc_server.enabled)
        return;
    if (!served)
        conf_warn(ctx, "rtc_server has no effect: no vhost has rtc { enabled on; }");
    if (!c->http_api.enabled && !c->http_server.enabled)
        conf_warn(ctx, "rtc_server has no effect: WebRTC offers come over HTTP, and http_api and "
                  "http_server are both off");
    if (!c->rtc_server.encrypt)
        conf_warn(ctx, "rtc_server: encrypt is off: clients may request unencrypted media");
}
