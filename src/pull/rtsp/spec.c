/* SPDX-License-Identifier: MIT */
/* spec.c - finds the streams that the configuration pulls, and their sources. */
#include "pull/rtsp/spec.h"

#include "base/must.h"

#include <string.h>

#define PARAM "[param]"

/* the default app of RTSP URLs with one level, so "camera" is "live/camera" */
static const char default_app[] = "live";

static bool is_plain(const char *text, size_t size)
{
    if (size == 0 || size > RTSP_PULL_PARAM || text[0] == '.' || text[0] == '-')
        return false;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || (c == '.' && text[i - 1] != '.');

        if (!ok)
            return false;
    }
    return true;
}

/* Matches the name of a stream. Sets *param to the text for [param]; *size 0: the pattern has
 * none. */
static bool fits(const char *pattern, const char *name, const char **param, size_t *size)
{
    const char *at = strstr(pattern, PARAM), *tail;
    size_t front, n = strlen(name), back;

    *param = "";
    *size = 0;
    if (!at)
        return strcmp(pattern, name) == 0;
    front = (size_t)(at - pattern);
    tail = at + strlen(PARAM);
    back = strlen(tail);
    if (n < front + back || strncmp(pattern, name, front) != 0 ||
        strcmp(name + n - back, tail) != 0)
        return false;
    *param = name + front;
    *size = n - front - back;
    return is_plain(*param, *size);
}

static char *fill_in(const char *url, const char *param, size_t size)
{
    char *text = must_dup(""), *next;
    const char *at;

    for (; (at = strstr(url, PARAM)); url = at + strlen(PARAM)) {
        next = must_print("%s%.*s%.*s", text, (int)(at - url), url, (int)size, param);
        free(text);
        text = next;
    }
    next = must_print("%s%s", text, url);
    free(text);
    return next;
}

/* Sets the transports. A URL of rtsps:// must not send media unencrypted, so UDP is left out. */
static void set_transports(struct rtsp_pull_spec *out, const struct conf_list *names)
{
    bool tls = strncmp(out->url, "rtsps:", 6) == 0;

    for (size_t i = 0; i < names->n && out->transports < RTSP_PULL_TRANSPORTS; i++) {
        enum rtsp_pull_transport one =
            strcmp(names->v[i], "udp") == 0 ? RTSP_PULL_UDP : RTSP_PULL_TCP;

        if (tls && one == RTSP_PULL_UDP)
            continue;
        if (out->transports == 0 || out->transport[0] != one)
            out->transport[out->transports++] = one;
    }
    if (out->transports == 0)
        out->transport[out->transports++] = RTSP_PULL_TCP;
}

static char *whole_name(const char *stream)
{
    return must_print("%s%s%s", strchr(stream, '/') ? "" : default_app,
                      strchr(stream, '/') ? "" : "/", stream);
}

/* Finds the pull of a stream; an exact name comes before patterns with [param], in any order. */
static const struct conf_rtsp_pull *find(const struct conf_rtsp_pulls *all, const char *path,
                                         const char **param, size_t *size)
{
    const struct conf_rtsp_pull *found = NULL;
    const char *p;
    size_t n;

    for (size_t i = 0; i < all->n; i++) {
        const struct conf_rtsp_pull *one = &all->v[i];
        char *stream = whole_name(one->stream);
        bool is = one->enabled && fits(stream, path, &p, &n) && (!found || n == 0);

        free(stream);
        if (!is)
            continue;
        found = one;
        *param = p;
        *size = n;
        if (n == 0)
            break;
    }
    return found;
}

bool rtsp_pull_spec_of(struct rtsp_pull_spec *out, const struct conf_vhost *v, const char *app,
                       const char *name)
{
    const struct conf_rtsp_pull *found;
    const char *param;
    size_t size;
    char *path;

    *out = (struct rtsp_pull_spec){ .transports = 0 };
    if (!v || !v->enabled || !v->rtsp.enabled || v->rtsp.pull.n == 0)
        return false;
    path = must_print("%s/%s", app, name);
    found = find(&v->rtsp.pull, path, &param, &size);
    if (found) {
        *out = (struct rtsp_pull_spec){
            .url = fill_in(found->url, param, size), .on_demand = found->on_demand || size > 0,
            .linger = found->linger, .timeout = found->timeout,
            .ca = found->tls_verify ? must_dup(found->tls_ca) : NULL };
        set_transports(out, &found->transport);
    }
    free(path);
    return found != NULL;
}

void rtsp_pull_spec_free(struct rtsp_pull_spec *w)
{
    free(w->url);
    free(w->ca);
    *w = (struct rtsp_pull_spec){ .transports = 0 };
}

static bool same_trust(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool rtsp_pull_spec_same(const struct rtsp_pull_spec *a, const struct rtsp_pull_spec *b)
{
    return strcmp(a->url, b->url) == 0 && a->transports == b->transports &&
           a->transport[0] == b->transport[0] && a->on_demand == b->on_demand &&
           a->linger == b->linger && a->timeout == b->timeout && same_trust(a->ca, b->ca);
}

bool rtsp_pull_is_permanent(const struct conf_rtsp_pull *p, const char **app, size_t *app_size,
                            const char **name)
{
    const char *slash = strrchr(p->stream, '/');

    if (!p->enabled || p->on_demand || strstr(p->stream, PARAM))
        return false;
    *app = slash ? p->stream : default_app;
    *app_size = slash ? (size_t)(slash - p->stream) : strlen(default_app);
    *name = slash ? slash + 1 : p->stream;
    return true;
}
