/* SPDX-License-Identifier: MIT */
/* url.c - resolves a peer's tcUrl and stream name to vhost, app, stream and parameters. */
#include "proto/rtmp/url.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/text.h"
#include "base/url.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_APP "__defaultApp__"
#define INSTANCE "_definst_"
#define SPACES " \t\r\n\v\f"

/* Appends strings one after the other to memory that is large enough for all of them. */
struct builder {
    char *at;
};

static struct span span(const char *from, const char *to)
{
    return (struct span){ from, (size_t)(to - from) };
}

/* Returns the default port of a schema, or 0. */
static int rtmp_url_port(const char *schema)
{
    static const struct {
        const char *schema;
        int port;
    } rows[] = {
        { "rtmp", 1935 }, { "rtmps", 443 }, { "rtmpe", 1935 }, { "rtmpt", 80 }, { "rtmpts", 443 },
        { "http", 80 },   { "https", 443 }, { "rtsp", 554 },   { "srt", 10080 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].schema, schema) == 0)
            return rows[i].port;
    }
    return 0;
}

static struct span param_value(struct span param, const char *key)
{
    if (param.n && *param.p == '?')
        param = span(param.p + 1, param.p + param.n);
    while (param.n > 0) {
        struct span value = span_cut(&param, "&"), name = span_cut(&value, "=");

        if (span_is(name, key) && value.n)
            return value;
    }
    return (struct span){ NULL, 0 };
}

/* Appends without white space, which people paste into such fields, and without control characters,
 * which must not get into names, files and log lines. */
static void put(struct builder *b, struct span s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (!isspace((unsigned char)s.p[i]) && !iscntrl((unsigned char)s.p[i]))
            *b->at++ = s.p[i];
    }
}

static void end(struct builder *b)
{
    *b->at++ = '\0';
}

/* Parses schema, host and port; *url becomes the rest. */
static err_t parse_host(struct span *url, struct rtmp_url *out, struct builder *b)
{
    struct url u = url_split(url->p, url->n);

    if (u.scheme_n == 0)
        return err_new(ERR_RTMP_CONNECT, "no schema in a URL of %zu bytes", url->n);
    out->schema = b->at;
    put(b, (struct span){ u.scheme, u.scheme_n });
    end(b);
    for (char *c = out->schema; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    out->port = host_port_number(&u.at);
    if (out->port == 0 && u.at.port_n > 0 && strspn(u.at.port, "0") < u.at.port_n)
        return err_new(ERR_RTMP_CONNECT, "port is not a number up to 65535");
    if (out->port == 0)
        out->port = rtmp_url_port(out->schema);
    out->host = b->at;
    put(b, (struct span){ u.at.host, u.at.host_n });
    end(b);
    *url = span(u.path, url->p + url->n);
    return *out->host ? NULL : err_new(ERR_RTMP_CONNECT, "no host in the URL");
}

/* The path under construction: its parts joined by single slashes, and the start of the last
 * one. */
struct path {
    char *begin, *last;
    struct span vhost; /* from app...vhost...NAME */
};

/* Cuts "live...vhost...example.com" at the dots and returns the part before them. */
static struct span cut_dots(struct span part, struct span *vhost)
{
    static const char dots[] = "...vhost...";
    size_t n = strlen(dots);
    const char *at = memmem(part.p, part.n, dots, n);

    if (!at)
        return part;
    *vhost = span(at + n, part.p + part.n);
    return span(part.p, at);
}

/* Parts that name nothing. Names become files, so ".." is dropped too. */
static bool is_idle(struct span part)
{
    return part.n == 0 || span_is(part, INSTANCE) || span_is(part, ".") || span_is(part, "..");
}

static void put_path(struct path *path, struct span s, struct builder *b)
{
    while (s.n > 0) {
        struct span part = cut_dots(span_cut(&s, "/"), &path->vhost);
        char *at = b->at, *text = at > path->begin ? at + 1 : at;

        if (text > at)
            *b->at++ = '/';
        put(b, part);
        if (is_idle(span(text, b->at)))
            b->at = at;
        else
            path->last = text;
    }
}

static void put_param(struct rtmp_url *out, struct span param, struct builder *b)
{
    if (param.n == 0)
        return;
    *b->at = b->at == out->param ? '?' : '&';
    b->at++;
    put(b, param);
}

/* Decides, for a URL in one piece, what "/x" at the end of the query is: the stream, as in
 * rtmp://ip/app?k=v/x, or part of a value, as in rtmp://ip/app/x?token=a/b. */
static bool stream_in_query(struct span path, struct span query)
{
    struct span value = query, key = span_cut(&value, "=");

    if (!memrchr(query.p, '/', query.n))
        return false;
    while (path.n && *path.p == '/')
        path = span(path.p + 1, path.p + path.n);
    return !memchr(path.p, '/', path.n) || span_is(key, "vhost") || span_is(key, "domain");
}

static void put_vhost(struct rtmp_url *out, struct span dots, struct builder *b)
{
    struct span whole = { out->param, strlen(out->param) };
    struct span v = param_value(whole, "vhost");

    if (!v.n)
        v = param_value(whole, "domain");
    if (!v.n)
        v = dots;
    out->vhost = b->at;
    put(b, span_cut(&v, "/"));
    end(b);
    if (!*out->vhost)
        out->vhost = out->host;
}

static err_t resolve(struct rtmp_url *out, struct span url, struct span name, bool has_stream,
                     struct builder *b)
{
    struct span name_query = name, query;
    struct path path = { .begin = NULL };
    err_t err = parse_host(&url, out, b);
    const char *slash;

    if (err)
        return err;
    name = span_cut(&name_query, "?");
    query = url;
    url = span_cut(&query, "?#");
    path.begin = path.last = b->at;
    put_path(&path, url, b);
    if (has_stream && name.n == 0 && stream_in_query(url, query)) {
        slash = memrchr(query.p, '/', query.n);
        name = span(slash + 1, query.p + query.n);
        query = span(query.p, slash);
    }
    put_path(&path, name, b);
    end(b);
    out->app = path.begin;
    out->stream = has_stream ? path.last : b->at - 1;
    if (has_stream && path.last > path.begin)
        path.last[-1] = '\0';
    if (out->app == out->stream) { /* no app, or only a stream */
        out->app = b->at;
        put(b, (struct span){ DEFAULT_APP, strlen(DEFAULT_APP) });
        end(b);
    }
    out->param = b->at;
    put_param(out, name_query, b);
    put_param(out, query, b);
    end(b);
    put_vhost(out, path.vhost, b);
    return NULL;
}

err_t rtmp_url_resolve(struct rtmp_url *out, const char *tc_url, const char *name)
{
    struct span url = span_trim(span_of(tc_url), SPACES);
    struct span stream = span_trim(span_of(text_or_empty(name)), SPACES);
    struct builder b;
    err_t err;

    *out = (struct rtmp_url){ .port = 0 };
    if (url.n + stream.n > RTMP_URL_MAX)
        return err_new(ERR_TOO_LARGE, "URL of %zu bytes, limit %d", url.n + stream.n, RTMP_URL_MAX);
    /* Each byte goes to one string, those of a vhost to two; plus terminators and separators. */
    out->memory = b.at = mem_try(2 * (url.n + stream.n) + strlen(DEFAULT_APP) + 32);
    if (!out->memory)
        return err_new(ERR_NO_MEMORY, "url of %zu bytes", url.n + stream.n);
    err = resolve(out, url, stream, name != NULL, &b);
    if (err)
        rtmp_url_free(out);
    return err;
}

err_t rtmp_url_parse(struct rtmp_url *out, const char *url)
{
    err_t err = rtmp_url_resolve(out, url, "");

    if (!err && !*out->stream) {
        err = err_new(ERR_RTMP_CONNECT, "no stream in \"%s\"", url);
        rtmp_url_free(out);
    }
    return err;
}

void rtmp_url_free(struct rtmp_url *u)
{
    free(u->memory);
    *u = (struct rtmp_url){ .port = 0 };
}

const char *rtmp_url_tc(const struct rtmp_url *u, char *buf, size_t size)
{
    bool v6 = strchr(u->host, ':') != NULL, usual = u->port == rtmp_url_port(u->schema);
    bool same = strcmp(u->vhost, u->host) == 0;
    char port[16] = "";

    if (!usual)
        (void)snprintf(port, sizeof(port), ":%d", u->port);
    (void)snprintf(buf, size, "%s://%s%s%s%s/%s%s%s", u->schema, v6 ? "[" : "", u->host,
                   v6 ? "]" : "", port, u->app, same ? "" : "?vhost=", same ? "" : u->vhost);
    return buf;
}
