/* SPDX-License-Identifier: MIT */
/* url.c - addresses with {i} in them. */
#include "tools/load/url.h"

#include <http_parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


err_t load_url_expand(char *out, size_t size, const char *pattern, unsigned index)
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

static const struct scheme {
    const char *name;
    int port;
    bool tls;
    enum { STREAM, APP, WHOLE } path; /* /app/stream; /app and what follows; any, or none */
} rows[] = {
    { "rtmp", 1935, false, STREAM }, { "rtmps", 443, true, STREAM }, { "http", 80, false, STREAM },
    { "https", 443, true, STREAM },  { "rtsp", 554, false, WHOLE },  { "rtsps", 322, true, WHOLE },
    { "srt", 10080, false, WHOLE },  { "rtmfp", 1935, false, APP },
};

static const struct scheme *scheme_of(const char *text, const char *schemes)
{
    size_t n = strcspn(text, ":");

    for (const char *p = schemes; *p; p += strcspn(p, " "), p += strspn(p, " "))
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
            if (strcspn(p, " ") == n && strncmp(p, text, n) == 0 && strlen(rows[i].name) == n &&
                strncmp(rows[i].name, text, n) == 0)
                return &rows[i];
    return NULL;
}

/* `from`: what follows the host; the stream is behind the last '/' of the path. */
static err_t split(struct load_url *url, const char *text, const char *from, bool stream)
{
    const char *end = text + strlen(text), *last = stream ? from + strcspn(from, "?#") : end;
    err_t err;

    while (stream && last > from && *last != '/')
        last--;
    if (*from != '/' || last == from)
        return err_new(ERR_CONF, "%s has no %s", text, stream ? "/app/stream" : "/app");
    err = take(url->app, sizeof(url->app), from + 1, last, "app");
    if (!err)
        err = take(url->tc_url, sizeof(url->tc_url), text, last, "URL");
    if (!err && stream)
        err = take(url->stream, sizeof(url->stream), last + 1, end, "stream");
    return err ? err_wrap(err, "%s", text) : NULL;
}

err_t load_url_parse(struct load_url *url, const char *text, const char *schemes)
{
    const struct scheme *scheme = scheme_of(text, schemes);
    struct http_parser_url u;
    const char *host, *path;
    err_t err;

    if (!scheme)
        return err_new(ERR_CONF, "%s: this tool takes addresses of %s", text, schemes);
    http_parser_url_init(&u);
    if (http_parser_parse_url(text, strlen(text), 0, &u) != 0 || !(u.field_set & 1u << UF_HOST))
        return err_new(ERR_CONF, "%s is no address (%s://host...)", text, scheme->name);
    *url = (struct load_url){ .tls = scheme->tls, .port = scheme->port };
    if (u.field_set & 1u << UF_PORT)
        url->port = u.port;
    host = text + u.field_data[UF_HOST].off;
    path = text + strlen(scheme->name) + 3;
    path += strcspn(path, "/?#");
    err = take(url->host, sizeof(url->host), host, host + u.field_data[UF_HOST].len, "host");
    if (!err && scheme->path == WHOLE)
        return take(url->tc_url, sizeof(url->tc_url), text, text + strlen(text), "URL");
    return err ? err : split(url, text, path, scheme->path == STREAM);
}

/* Take "." and ".." out of a path in place, RFC 3986 5.2.4; it ends where its query begins. */
static void remove_dots(char *path)
{
    size_t end = strcspn(path, "?"), to = 0;

    for (size_t at = 0; at < end;) {
        size_t n = 1 + strcspn(path + at + 1, "/?");
        bool one = n == 2 && path[at + 1] == '.';
        bool two = n == 3 && path[at + 1] == '.' && path[at + 2] == '.';
        bool last = at + n >= end;

        while (two && to > 0 && path[--to] != '/')
            ;
        if (!one && !two) {
            memmove(path + to, path + at, n);
            to += n;
        } else if (last) {
            path[to++] = '/';
        }
        at += n;
    }
    memmove(path + to, path + end, strlen(path + end) + 1);
}

/* How much of the base stands before a reference. */
static size_t kept(const char *base, const char *ref)
{
    size_t scheme = strcspn(base, ":"), host = scheme + 3 + strcspn(base + scheme + 3, "/?");
    size_t keep = host + strcspn(base + host, "?");

    if (strncmp(ref + strcspn(ref, ":/?#"), "://", 3) == 0)
        return 0;
    if (strncmp(ref, "//", 2) == 0)
        return scheme + 1;
    if (*ref == '/')
        return host;
    while (*ref != '?' && keep > host && base[keep - 1] != '/')
        keep--;
    return keep;
}

err_t load_url_resolve(char *out, size_t out_size, const char *base, const char *ref, size_t size)
{
    size_t scheme = strcspn(base, ":"), keep;
    char *text, *path;
    bool bare; /* a host without a path */
    int n;

    if (strncmp(base + scheme, "://", 3) != 0)
        return err_new(ERR_CONF, "%.64s is no address", base);
    text = strndup(ref, size);
    if (!text)
        return err_new(ERR_NO_MEMORY, "an address");
    text[strcspn(text, "#")] = '\0';
    keep = kept(base, text);
    bare = keep > scheme + 1 && !strchr(base + scheme + 3, '/') && *text != '/';
    n = snprintf(out, out_size, "%.*s%s%s", (int)keep, base, bare ? "/" : "", text);
    free(text);
    if (n < 0 || (size_t)n >= out_size)
        return err_new(ERR_CONF, "an address of over %zu bytes", out_size);
    scheme = strcspn(out, ":");
    path = strncmp(out + scheme, "://", 3) == 0 ? strchr(out + scheme + 3, '/') : NULL;
    if (path)
        remove_dots(path);
    return NULL;
}
