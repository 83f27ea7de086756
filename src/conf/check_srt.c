/* SPDX-License-Identifier: MIT */
/* check_srt.c - what SRT is served by: well-formed. */
#include "conf/check.h"

#include <string.h>

/* As libraries of clients have it: others could never connect. */
static err_t check_secret(const char *passphrase, int key_size)
{
    enum { LEAST = 10, MOST = 79 };
    size_t size = passphrase ? strlen(passphrase) : 0;

    if (size > 0 && (size < LEAST || size > MOST))
        return err_new(ERR_CONF, "a passphrase has %d to %d letters, not %zu", LEAST, MOST, size);
    if (key_size != 0 && key_size != 16 && key_size != 24 && key_size != 32)
        return err_new(ERR_CONF, "pbkeylen is 0, 16, 24 or 32, not %d", key_size);
    return NULL;
}

err_t conf_check_srt_server(const struct conf *c, const struct conf_source *src)
{
    const struct conf_srt_server *s = &c->srt_server;
    err_t err = check_secret(s->passphrase, s->pbkeylen);

    (void)src;
    if (!err && s->enabled && s->listen.n == 0)
        err = err_new(ERR_CONF, "it is on and has no listen");
    return err ? err_wrap(err, "srt_server") : NULL;
}

err_t conf_check_srt(const struct conf_vhost *v)
{
    err_t err = check_secret(v->srt.passphrase, v->srt.pbkeylen);

    return err ? err_wrap(err, "srt") : NULL;
}

void conf_warn_srt(const struct conf *c, const struct conf_ctx *ctx)
{
    bool served = false;

    for (size_t i = 0; i < c->vhost.n; i++) {
        const struct conf_vhost *v = &c->vhost.v[i];

        served |= v->srt.enabled;
        if (v->srt.enabled && !c->srt_server.enabled)
            conf_warn(ctx, "vhost %.60s: srt is on and has no effect: srt_server is off", v->name);
    }
    if (c->srt_server.enabled && !served)
        conf_warn(ctx, "srt_server has no effect: no vhost has srt { enabled on; }");
}
