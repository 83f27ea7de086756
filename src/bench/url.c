/* SPDX-License-Identifier: MIT */
/* url.c - addresses with {i} in them. */
#include "bench/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

err_t bench_url_expand(char *out, size_t size, const char *pattern, unsigned index)
{
    size_t n = 0;

    for (const char *p = pattern; *p && n < size;) {
        if (strncmp(p, "{i}", 3) == 0) {
            n += (size_t)snprintf(out + n, size - n, "%u", index);
            p += 3;
        } else {
            out[n++] = *p++;
        }
    }
    if (n >= size)
        return err_new(ERR_CONF, "the URL %.64s... is too long", pattern);
    out[n] = '\0';
    return NULL;
}

static err_t take(char *out, size_t size, const char *from, const char *end, const char *what)
{
    size_t n = (size_t)(end - from);

    if (n == 0 || n >= size)
        return err_new(ERR_CONF, "the %s is %s", what, n ? "too long" : "empty");
    memcpy(out, from, n);
    out[n] = '\0';
    return NULL;
}

/* "host", "host:port", "[v6]", "[v6]:port" */
static err_t authority(struct bench_url *url, const char *from, const char *end)
{
    const char *stop = end, *colon;
    char port[8] = "", *rest;
    long n;
    err_t err = NULL;

    if (*from == '[') {
        const char *close = memchr(from, ']', (size_t)(end - from));

        if (!close)
            return err_new(ERR_CONF, "no ] in the host");
        from++;
        stop = close;
        colon = close + 1 < end && close[1] == ':' ? close + 1 : NULL;
    } else {
        colon = memchr(from, ':', (size_t)(end - from));
        stop = colon ? colon : end;
    }
    if (colon)
        err = take(port, sizeof(port), colon + 1, end, "port");
    if (!err)
        err = take(url->host, sizeof(url->host), from, stop, "host");
    if (err || !colon)
        return err;
    n = strtol(port, &rest, 10);
    if (*rest || n <= 0 || n > 65535)
        return err_new(ERR_CONF, "%s is no port", port);
    url->port = (int)n;
    return NULL;
}

static bool is_one_of(const char *word, size_t size, const char *words)
{
    for (const char *p = words; *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");

        if (n == size && strncmp(p, word, n) == 0)
            return true;
        p += n;
    }
    return false;
}

err_t bench_url_parse(struct bench_url *url, const char *text, const char *schemes)
{
    size_t scheme = strcspn(text, ":");
    const char *host = text + scheme + 3, *path, *query, *last;
    err_t err;

    if (strncmp(text + scheme, "://", 3) != 0 || !is_one_of(text, scheme, schemes))
        return err_new(ERR_CONF, "%s does not begin with %s://", text, schemes);
    url->tls = scheme == 5;
    url->port = strncmp(text, "rtmp:", 5) == 0 ? 1935 : url->tls ? 443 : 80;
    path = strchr(host, '/');
    if (!path)
        return err_new(ERR_CONF, "%s has no /app/stream", text);
    query = path + strcspn(path, "?");
    for (last = query; *last != '/'; last--)
        continue;
    if (last == path)
        return err_new(ERR_CONF, "%s has no /app/stream", text);
    err = authority(url, host, path);
    if (!err)
        err = take(url->app, sizeof(url->app), path + 1, last, "app");
    if (!err)
        err = take(url->tc_url, sizeof(url->tc_url), text, last, "URL");
    if (!err)
        err = take(url->stream, sizeof(url->stream), last + 1, text + strlen(text), "stream");
    return err ? err_wrap(err, "%s", text) : NULL;
}
