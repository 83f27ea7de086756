/* SPDX-License-Identifier: MIT */
/* check_vod.c - checks the app of vod. */
#include "conf/check.h"

#include <string.h>

/* The app is one level of the path in URLs of three protocols. Empty means the default. */
static err_t check_app(const char *app)
{
    if (strchr(app, '/'))
        return err_new(ERR_CONF, "app %.60s must not contain /", app);
    if (strcmp(app, ".") == 0 || strcmp(app, "..") == 0 || strpbrk(app, "\\?#%:\" \t\r\n"))
        return err_new(ERR_CONF, "app %.60s has characters that need escaping in a url", app);
    return NULL;
}

err_t conf_check_vod(const struct conf_vhost *v)
{
    err_t err = v->vod.enabled ? check_app(v->vod.app) : NULL;

    return err ? err_wrap(err, "vod") : NULL;
}
