/* SPDX-License-Identifier: MIT */
/* url.c - addresses with {i} in them. */
#include "tools/load/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/rtsp/url.h"
#include "proto/srt/call.h"

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

/* "host", "host:port", "[v6]", "[v6]:port" */
static err_t authority(struct load_url *url, const char *from, const char *end)
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

/* A camera's may have any path, or none. */
static err_t parse_rtsp(struct load_url *url, const char *text)
{
    struct rtsp_place place;
    err_t err = rtsp_place_parse(&place, text);

    if (err)
        return err_wrap(err, "the URL");
    url->port = place.port;
    url->tls = place.tls;
    err = take(url->host, sizeof(url->host), place.host, place.host + strlen(place.host), "host");
    rtsp_place_free(&place);
    return err ? err : take(url->tc_url, sizeof(url->tc_url), text, text + strlen(text), "URL");
}

/* Its stream id is for who calls. */
static err_t parse_srt(struct load_url *url, const char *text)
{
    struct srt_url place;
    err_t err;

    if (!srt_url_parse(&place, text))
        return err_new(ERR_CONF, "%s: no address of SRT (srt://host:port?streamid=...)", text);
    url->port = place.port;
    err = take(url->host, sizeof(url->host), place.host, place.host + strlen(place.host), "host");
    return err ? err : take(url->tc_url, sizeof(url->tc_url), text, text + strlen(text), "URL");
}

/* It may be an app alone: what is asked of the server comes later. */
static err_t parse_rtmfp(struct load_url *url, const char *text)
{
    const char *host = text + strlen("rtmfp://"), *path = host + strcspn(host, "/");
    err_t err;

    if (!*path)
        return err_new(ERR_CONF, "%s has no /app", text);
    url->tls = false;
    url->port = 1935;
    url->stream[0] = '\0';
    err = authority(url, host, path);
    if (!err)
        err = take(url->app, sizeof(url->app), path + 1, text + strlen(text), "app");
    if (!err)
        err = take(url->tc_url, sizeof(url->tc_url), text, text + strlen(text), "URL");
    return err ? err_wrap(err, "%s", text) : NULL;
}

err_t load_url_parse(struct load_url *url, const char *text, const char *schemes)
{
    size_t scheme = strcspn(text, ":");
    const char *host = text + scheme + 3, *path, *query, *last;
    err_t err;

    if (strncmp(text + scheme, "://", 3) != 0 || !is_one_of(text, scheme, schemes))
        return err_new(ERR_CONF, "%s: this tool takes addresses of %s", text, schemes);
    if (strncmp(text, "rtsp", 4) == 0)
        return parse_rtsp(url, text);
    if (strncmp(text, "srt:", 4) == 0)
        return parse_srt(url, text);
    if (strncmp(text, "rtmfp:", 6) == 0)
        return parse_rtmfp(url, text);
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
