/* SPDX-License-Identifier: MIT */
/* check_rtmfp.c - what RTMFP is served by: it fits together. */
#include "conf/check.h"
#include "conf/endpoint.h"

#include <string.h>

enum { REDIRECTS_MAX = 24 }; /* addresses in one answer */

static err_t check_groups(const struct conf_list *groups)
{
    static const char *const known[] = { "2", "5", "14" };

    if (groups->n == 0)
        return err_new(ERR_CONF, "groups: at least one of 2, 5, 14");
    for (size_t i = 0; i < groups->n; i++) {
        size_t k = 0;

        while (k < sizeof(known) / sizeof(known[0]) && strcmp(groups->v[i], known[k]) != 0)
            k++;
        if (k == sizeof(known) / sizeof(known[0]))
            return err_new(ERR_CONF, "groups are of 2, 5, 14, not \"%.20s\"", groups->v[i]);
    }
    return NULL;
}

/* They are told to clients as bytes, in the middle of a packet: nobody can look up a name there. */
static err_t check_redirect(const struct conf_endpoints *redirect)
{
    uint8_t addr[16];
    bool is_v4;

    if (redirect->n > REDIRECTS_MAX)
        return err_new(ERR_CONF, "redirect has %d servers at most, not %zu", REDIRECTS_MAX,
                       redirect->n);
    for (size_t i = 0; i < redirect->n; i++) {
        const char *host = redirect->v[i].host;

        if (!conf_address_parse(host, strlen(host), addr, &is_v4))
            return err_new(ERR_CONF, "redirect takes addresses, no names: \"%.60s\"", host);
    }
    return NULL;
}

err_t conf_check_rtmfp_server(const struct conf *c, const struct conf_source *src)
{
    const struct conf_rtmfp_server *r = &c->rtmfp_server;
    err_t err = check_groups(&r->groups);

    (void)src;
    if (!err)
        err = check_redirect(&r->redirect);
    if (!err && r->enabled && r->listen.n == 0)
        err = err_new(ERR_CONF, "it is on and has no listen");
    return err ? err_wrap(err, "rtmfp_server") : NULL;
}

/* True if every client is redirected, so none needs a vhost here. */
static bool sends_all_on(const struct conf_rtmfp_server *r)
{
    return r->redirect.n > 0 && r->redirect_peers != CONF_REDIRECT_PEERS_ONLY;
}

static void warn_server(const struct conf_rtmfp_server *r, bool served, const struct conf_ctx *ctx)
{
    if (!served && !sends_all_on(r))
        conf_warn(ctx, "rtmfp_server has no effect: no vhost has rtmfp { enabled on; }");
    if (r->timeout <= r->ping)
        conf_warn(ctx, "rtmfp_server: timeout is not longer than ping: sessions end before the "
                  "first ping is sent");
    if (r->redirect.n == 0 && r->redirect_by != CONF_REDIRECT_ALL)
        conf_warn(ctx, "rtmfp_server: redirect_by has no effect without redirect");
    if (r->redirect.n == 0 && r->redirect_peers != CONF_REDIRECT_NO_PEERS)
        conf_warn(ctx, "rtmfp_server: redirect_peers has no effect without redirect");
}

void conf_warn_rtmfp(const struct conf *c, const struct conf_ctx *ctx)
{
    bool served = false;

    for (size_t i = 0; i < c->vhost.n; i++) {
        const struct conf_vhost *v = &c->vhost.v[i];

        served |= v->rtmfp.enabled;
        if (v->rtmfp.enabled && !c->rtmfp_server.enabled)
            conf_warn(ctx, "vhost %.60s: rtmfp is on and has no effect: rtmfp_server is off",
                      v->name);
    }
    if (c->rtmfp_server.enabled)
        warn_server(&c->rtmfp_server, served, ctx);
}
