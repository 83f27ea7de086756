/* SPDX-License-Identifier: MIT */
/* spec.c - which streams the configuration pulls, and from where. */
#include "pull/rtsp/spec.h"

#include "base/must.h"

#include <string.h>

#define PARAM "[param]"

/* "camera" is a stream of the app that urls of one level are of. */
static const char usual_app[] = "live";

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

/* Does the name of a stream fit, and what stands for [param] in it? *size 0: there is none. */
static bool fits(const char *wanted, const char *name, const char **param, size_t *size)
{
    const char *at = strstr(wanted, PARAM), *tail;
    size_t front, n = strlen(name), back;

    *param = "";
    *size = 0;
    if (!at)
        return strcmp(wanted, name) == 0;
    front = (size_t)(at - wanted);
    tail = at + strlen(PARAM);
    back = strlen(tail);
    if (n < front + back || strncmp(wanted, name, front) != 0 ||
        strcmp(name + n - back, tail) != 0)
        return false;
    *param = name + front;
    *size = n - front - back;
    return is_plain(*param, *size);
}

static char *fill_in(const char *url, const char *param, size_t size)
{
    char *made = must_dup(""), *next;
    const char *at;

    for (; (at = strstr(url, PARAM)); url = at + strlen(PARAM)) {
        next = must_print("%s%.*s%.*s", made, (int)(at - url), url, (int)size, param);
        free(made);
        made = next;
    }
    next = must_print("%s%s", made, url);
    free(made);
    return next;
}

/* Of a url of rtsps:// nothing is sent in the open: no datagrams. */
static void take_ways(struct rtsp_pull_spec *out, const struct conf_list *said)
{
    bool tls = strncmp(out->url, "rtsps:", 6) == 0;

    for (size_t i = 0; i < said->n && out->ways < RTSP_PULL_WAYS; i++) {
        enum rtsp_pull_way way = strcmp(said->v[i], "udp") == 0 ? RTSP_PULL_UDP : RTSP_PULL_TCP;

        if (tls && way == RTSP_PULL_UDP)
            continue;
        if (out->ways == 0 || out->way[0] != way)
            out->way[out->ways++] = way;
    }
    if (out->ways == 0)
        out->way[out->ways++] = RTSP_PULL_TCP;
}

static char *whole_name(const char *stream)
{
    return must_print("%s%s%s", strchr(stream, '/') ? "" : usual_app,
                      strchr(stream, '/') ? "" : "/", stream);
}

/* One without [param] is meant before one with it, wherever it stands. */
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

    *out = (struct rtsp_pull_spec){ .ways = 0 };
    if (!v || !v->enabled || !v->rtsp.enabled || v->rtsp.pull.n == 0)
        return false;
    path = must_print("%s/%s", app, name);
    found = find(&v->rtsp.pull, path, &param, &size);
    if (found) {
        *out = (struct rtsp_pull_spec){
            .url = fill_in(found->url, param, size), .on_demand = found->on_demand || size > 0,
            .linger = found->linger, .timeout = found->timeout,
            .ca = found->tls_verify ? must_dup(found->tls_ca) : NULL };
        take_ways(out, &found->transport);
    }
    free(path);
    return found != NULL;
}

void rtsp_pull_spec_free(struct rtsp_pull_spec *w)
{
    free(w->url);
    free(w->ca);
    *w = (struct rtsp_pull_spec){ .ways = 0 };
}

static bool same_trust(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool rtsp_pull_spec_same(const struct rtsp_pull_spec *a, const struct rtsp_pull_spec *b)
{
    return strcmp(a->url, b->url) == 0 && a->ways == b->ways && a->way[0] == b->way[0] &&
           a->on_demand == b->on_demand && a->linger == b->linger && a->timeout == b->timeout &&
           same_trust(a->ca, b->ca);
}

bool rtsp_pull_is_steady(const struct conf_rtsp_pull *p, const char **app, size_t *app_size,
                         const char **name)
{
    const char *slash = strrchr(p->stream, '/');

    if (!p->enabled || p->on_demand || strstr(p->stream, PARAM))
        return false;
    *app = slash ? p->stream : usual_app;
    *app_size = slash ? (size_t)(slash - p->stream) : strlen(usual_app);
    *name = slash ? slash + 1 : p->stream;
    return true;
}
