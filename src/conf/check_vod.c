/* SPDX-License-Identifier: MIT */
/* check_vod.c - files on demand: a name that an app can have. */
#include "conf/check.h"

#include <string.h>

/* It is one level of a path, in urls of three protocols. An empty one is the default. */
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
