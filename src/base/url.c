/* SPDX-License-Identifier: MIT */
/* url.c - splits URLs, hosts and ports. */
#include "base/url.h"

#include "base/text.h"

#include <string.h>
#include <strings.h>

static void split_brackets(struct host_port *p, const char *close, const char *end)
{
    p->bad = !close || (close + 1 < end && close[1] != ':');
    if (!close)
        return;
    p->host++;
    p->host_n = (size_t)(close - p->host);
    if (!p->bad && close + 1 < end)
        p->port = close + 2;
}

struct host_port host_port_split(const char *text, size_t size)
{
    struct host_port p = { .host = text, .host_n = size };
    const char *end = text + size, *colon = size ? memchr(text, ':', size) : NULL;

    if (size && *text == '[') {
        split_brackets(&p, memchr(text, ']', size), end);
    } else if (colon && !memchr(colon + 1, ':', (size_t)(end - colon - 1))) {
        p.host_n = (size_t)(colon - text);
        p.port = colon + 1;
    } /* no colon, or several: a bare v6 address */
    p.port_n = p.port ? (size_t)(end - p.port) : 0;
    return p;
}

int host_port_number(const struct host_port *p)
{
    int64_t v = p->port_n <= 5 ? text_number(p->port, p->port_n, 65535) : 0;

    return v > 0 ? (int)v : 0;
}

struct url url_split(const char *text, size_t size)
{
    const char *end = text + size, *mark = memmem(text, size, "://", 3), *at;
    struct url u = { .scheme = text, .scheme_n = mark ? (size_t)(mark - text) : 0, .path = text };

    for (size_t i = 0; i < u.scheme_n; i++) {
        if (strchr("/?#", text[i]))
            u.scheme_n = 0; /* the "://" is in a path or a query */
    }
    if (u.scheme_n == 0)
        return u;
    u.user = u.authority = u.path = mark + 3;
    while (u.path < end && !strchr("/?#", *u.path))
        u.path++;
    at = memrchr(u.authority, '@', (size_t)(u.path - u.authority));
    if (at) {
        u.user_n = (size_t)(at - u.user);
        u.authority = at + 1;
    }
    u.at = host_port_split(u.authority, (size_t)(u.path - u.authority));
    return u;
}

bool url_is(const struct url *u, const char *scheme)
{
    return strlen(scheme) == u->scheme_n && strncasecmp(scheme, u->scheme, u->scheme_n) == 0;
}

bool url_is_clean(const char *url)
{
    for (; *url; url++) {
        if ((unsigned char)*url <= ' ' || *url == 0x7f)
            return false;
    }
    return true;
}
