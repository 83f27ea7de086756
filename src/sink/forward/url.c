/* SPDX-License-Identifier: MIT */
/* url.c - builds the destination URL of a stream from the configured URL. */
#include "sink/forward/session.h"

#include "base/must.h"
#include "base/url.h"
#include "base/wr.h"

#include <stdlib.h>
#include <string.h>

enum { URL_MAX = 64 * 1024 };

static const char *const variables[] = { "[vhost]", "[app]", "[stream]" };
enum { VARIABLES = sizeof(variables) / sizeof(variables[0]) };

/* Returns the index of the variable at this position, or VARIABLES. */
static size_t variable_at(const char *at)
{
    size_t i = 0;

    while (i < VARIABLES && strncmp(at, variables[i], strlen(variables[i])) != 0)
        i++;
    return i;
}

/* Writes a name into the URL's path and escapes characters that would end the path. RTMP has no
 * escapes, so its names stay unchanged. */
static void put_name(struct wr *w, const char *name, bool escaped)
{
    for (; *name; name++) {
        unsigned char c = (unsigned char)*name;

        if (!escaped || strchr("-._~/", c) || (c >= '0' && c <= '9') ||
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
            wr_u8(w, c);
        else
            wr_printf(w, "%%%02X", c);
    }
}

static void put_path(struct wr *w, const char *at, const struct session_stream *n, bool escaped)
{
    const char *const values[VARIABLES] = { n->vhost, n->app, n->name };

    while (*at) {
        size_t i = variable_at(at);

        if (i < VARIABLES) {
            put_name(w, values[i], escaped);
            at += strlen(variables[i]);
        } else {
            wr_u8(w, (uint8_t)*at++);
        }
    }
}

/* A destination of only host and port is an RTMP server that gets the stream under its own name,
 * with its vhost and its publisher's parameters. */
static char *url_there(const struct conf_endpoint *to, const struct session_stream *n)
{
    bool v6 = strchr(to->host, ':') != NULL;
    bool named = strcmp(n->vhost, "__defaultVhost__") != 0;

    return must_print("%s://%s%s%s:%d/%s/%s%s%s%s", to->tls ? "rtmps" : "rtmp", v6 ? "[" : "",
                      to->host, v6 ? "]" : "", to->port, n->app, n->name, n->param,
                      !named ? "" : n->param[0] ? "&vhost=" : "?vhost=", named ? n->vhost : "");
}

char *forward_url(const struct conf_endpoint *to, const struct session_stream *names)
{
    const char *front, *path;
    struct wr w;
    char *url;

    if (!to->url)
        return url_there(to, names);
    front = path = url_split(to->url, strlen(to->url)).path;
    if (to->scheme == CONF_RTSP && (!*path || !path[1]))
        path = "/[app]/[stream]";
    wr_init(&w, URL_MAX);
    /* the separator after the host stays unchanged */
    wr_bytes(&w, to->url, (size_t)(front - to->url));
    put_path(&w, path, names, to->scheme != CONF_RTMP);
    url = must_ndup((const char *)w.buf, w.len);
    wr_free(&w);
    return url;
}

/* Finds the part after the last slash, where services put the key; returns its size without
 * parameters. */
static size_t last_part(const char *url, const char **at)
{
    const char *slash = strrchr(url, '/');

    *at = slash ? slash + 1 : url;
    return strcspn(*at, "?#");
}

bool forward_public_name(const struct conf_endpoint *to)
{
    const char *at, *end;
    size_t n;

    if (!to->url || to->scheme == CONF_SRT) /* SRT: the name is a parameter */
        return true;
    n = last_part(to->url, &at);
    end = at + n;
    while (at < end) {
        size_t i = variable_at(at);

        if (i == VARIABLES && !strchr("-._", *at))
            /* without a path */
            return to->scheme == CONF_RTSP && strrchr(to->url, '/') - to->url < 8;
        at += i < VARIABLES ? strlen(variables[i]) : 1;
    }
    return true;
}

void forward_hide(const struct forward *f, err_t err)
{
    const char *at;
    size_t n = last_part(f->url, &at);
    char *key = must_ndup(at, n);

    err_hide(err, at[n] ? at + n : NULL);
    if (!f->public_name)
        err_hide(err, key);
    free(key);
}

bool forward_is_circle(const char *url, const struct session_stream *names)
{
    struct rtmp_url from, to;
    bool same;
    err_t err = rtmp_url_resolve(&from, names->tc_url, NULL);

    if (!err) {
        err = rtmp_url_parse(&to, url);
        if (err)
            rtmp_url_free(&from);
    }
    if (err) { /* source or destination is not RTMP */
        err_free(&err);
        return false;
    }
    same = from.port == to.port && strcmp(from.host, to.host) == 0 &&
           strcmp(from.vhost, to.vhost) == 0 && strcmp(names->app, to.app) == 0 &&
           strcmp(names->name, to.stream) == 0;
    rtmp_url_free(&from);
    rtmp_url_free(&to);
    return same;
}

char *forward_app(struct rtmp_url *u, const char *url)
{
    const char *query = strchr(url, '?'), *at;
    char *app;

    if (!query || last_part(url, &at) == 0 || at < query || strcmp(at, u->stream) != 0 ||
        strcmp(u->vhost, u->host) != 0)
        return NULL;
    app = must_print("%s%s", u->app, u->param);
    u->param[0] = '\0';
    u->app = app;
    return app;
}
