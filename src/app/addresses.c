/* SPDX-License-Identifier: MIT */
/* addresses.c - the table of addresses that the log shows at the start. */
#include "app/addresses.h"

#include "app/os/machine.h"
#include "base/log.h"
#include "conf/expand.h"
#include "conf/protocol.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LINE "  %-9s %-14s %s"

enum { HOST_MAX = 300, TEXT_MAX = 1024, HTTP_USUAL = 80 };

/* Values that a row's URL is built from. */
struct example {
    const struct conf *c;
    const struct conf_vhost *vhost;
    char host[HOST_MAX];         /* with the port, unless it is the default one */
    char query[HOST_MAX];        /* "?vhost=NAME"; empty for the default vhost */
    char api[HOST_MAX];          /* host and port of the API; empty if it is off */
    char more[HOST_MAX];         /* the vhost after other parameters: "&vhost=NAME" */
    char h[HOST_MAX];            /* the vhost in a streamid: "h=NAME," */
};

typedef bool shape_fn(const struct example *e, char *buf, size_t size);

/* ---- URLs of the rows */

/* Expands the variables of a path for the example stream; returns false if it is too long. */
static bool expand(const char *path, const char *vhost, char *buf, size_t size)
{
    const struct conf_variable v[] = {
        { "vhost", vhost }, { "app", "live" }, { "stream", "livestream" },
    };
    const struct conf_expand with = { .v = v, .n = 3, .msec = -1 };
    err_t err = conf_expand(path, &with, buf, size);
    bool fits = !err;

    err_free(&err);
    return fits;
}

static bool mount(const struct example *e, const char *at, char *buf, size_t size)
{
    char text[TEXT_MAX];

    if (!expand(at, e->host, text, sizeof(text)))
        return false;
    (void)snprintf(buf, size, "http://%s%s", text, e->query);
    return e->c->http_server.enabled && e->vhost->http_remux.enabled;
}

static bool flv(const struct example *e, char *buf, size_t size)
{
    return mount(e, e->vhost->http_remux.mount, buf, size);
}

static bool fmp4(const struct example *e, char *buf, size_t size)
{
    char text[TEXT_MAX];
    const char *at = addresses_fmp4(&e->vhost->http_remux, text, sizeof(text));

    return at && mount(e, at, buf, size);
}

static bool file(const struct example *e, const char *path, const char *name, char *buf,
                 size_t size)
{
    char below[TEXT_MAX], text[TEXT_MAX];

    if (!addresses_file(e->c, path, name, below, sizeof(below)) ||
        !expand(below, e->vhost->name, text, sizeof(text)))
        return false;
    (void)snprintf(buf, size, "http://%s/%s", e->host, text);
    return e->c->http_server.enabled;
}

static bool hls(const struct example *e, char *buf, size_t size)
{
    const struct conf_hls *h = &e->vhost->hls;

    return h->enabled && file(e, h->path, h->m3u8_file, buf, size);
}

static bool dash(const struct example *e, char *buf, size_t size)
{
    const struct conf_dash *d = &e->vhost->dash;

    return d->enabled && file(e, d->path, d->mpd_file, buf, size);
}

static bool page(const struct example *e, char *buf, size_t size)
{
    (void)snprintf(buf, size, "http://%s/", e->host);
    return e->c->http_server.enabled;
}

static bool console(const struct example *e, char *buf, size_t size)
{
    (void)snprintf(buf, size, "http://%s/console/", e->host);
    return e->c->http_api.enabled;
}

/* ---- the table */

static const struct {
    const char *name;
    const char *use;
    size_t listen;    /* struct conf_endpoints in struct conf */
    shape_fn *shape;  /* writes the URL; returns false if the service is off */
} rows[] = {
    { "HTTP-FLV", "play", offsetof(struct conf, http_server.listen), flv },
    { "MP4", "play", offsetof(struct conf, http_server.listen), fmp4 },
    { "HLS", "play", offsetof(struct conf, http_server.listen), hls },
    { "DASH", "play", offsetof(struct conf, http_server.listen), dash },
    { "web page", "play", offsetof(struct conf, http_server.listen), page },
    { "console", "watch", offsetof(struct conf, http_api.listen), console },
};

static bool is_any(const char *host)
{
    return !*host || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

/* Writes the first endpoint, without the port if it is the default one; "" if there is none. */
static void put_host(const struct example *e, const struct conf_endpoints *listen, int usual,
                     char host[HOST_MAX])
{
    const struct conf_endpoint *at = listen->v;
    const char *name;
    char own[64];
    int n;

    host[0] = '\0';
    if (listen->n == 0)
        return;
    name = is_any(at->host) ? machine_address(e->c->stats.network, own, sizeof(own)) : at->host;
    n = snprintf(host, HOST_MAX, strchr(name, ':') ? "[%.200s]" : "%.200s",
                 *name ? name : "127.0.0.1");
    if (at->port != usual)
        (void)snprintf(host + n, HOST_MAX - (size_t)n, ":%d", at->port);
}

static void log_row(struct example *e, size_t i)
{
    char text[TEXT_MAX];

    put_host(e, (const void *)((const char *)e->c + rows[i].listen), HTTP_USUAL, e->host);
    if (*e->host && rows[i].shape(e, text, sizeof(text)))
        log_public(LINE, rows[i].name, rows[i].use, text);
}

static void log_address(struct example *e, const struct conf_served *s,
                         const struct conf_address *a)
{
    const struct conf_variable v[] = {
        { "host", e->host }, { "api", e->api }, { "query", e->query }, { "more", e->more },
        { "h", e->h },
    };
    const struct conf_expand with = { .v = v, .n = 5, .msec = -1 };
    char text[TEXT_MAX];
    err_t err;

    if (!a->use || !*e->host || (!*e->api && strstr(a->format, "[api]")))
        return;
    err = conf_expand(a->format, &with, text, sizeof(text));
    if (!err)
        log_public(LINE, s->text, a->use, text);
    err_free(&err);
}

static void log_protocols(struct example *e)
{
    const struct conf_served *s = NULL;
    enum protocol_id id = 0;

    while ((s = conf_served_next(s, &id))) {
        if (!conf_protocol_in(conf_protocol(id), e->vhost) || !conf_served_is_on(s, e->c))
            continue;
        put_host(e, conf_served_listen(s, e->c), s->usual, e->host);
        for (size_t i = 0; i < sizeof(s->addresses) / sizeof(s->addresses[0]); i++)
            log_address(e, s, &s->addresses[i]);
    }
}

void addresses_log(const struct conf *c)
{
    struct example e = { .c = c, .vhost = conf_vhost_find(c, "") };

    if (!e.vhost)
        e.vhost = c->vhost.n > 0 ? &c->vhost.v[0] : NULL;
    if (!e.vhost)
        return;
    if (strcmp(e.vhost->name, "__defaultVhost__") != 0) {
        (void)snprintf(e.query, sizeof(e.query), "?vhost=%.200s", e.vhost->name);
        (void)snprintf(e.more, sizeof(e.more), "&vhost=%.200s", e.vhost->name);
        (void)snprintf(e.h, sizeof(e.h), "h=%.200s,", e.vhost->name);
    }
    if (c->http_api.enabled)
        put_host(&e, &c->http_api.listen, HTTP_USUAL, e.api);
    log_trace("ready; live/livestream stands for any application and stream:");
    log_protocols(&e);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        log_row(&e, i);
}

/* ---- files */

/* Returns the rest of a path below a folder ("b/" for "./a/b/" below "a"), or NULL. */
static const char *below(const char *path, const char *folder)
{
    size_t n;

    if ((*path == '/') != (*folder == '/'))
        return NULL;
    path += strncmp(path, "./", 2) == 0 ? 2 : 0;
    folder += strncmp(folder, "./", 2) == 0 ? 2 : 0;
    n = strlen(folder);
    while (n > 0 && folder[n - 1] == '/')
        n--;
    if (strncmp(path, folder, n) != 0 || (n > 0 && path[n] && path[n] != '/'))
        return NULL;
    return path + n + strspn(path + n, "/");
}

bool addresses_file(const struct conf *c, const char *path, const char *file_name, char *buf,
                    size_t size)
{
    const char *folder = below(path, c->http_server.dir);
    size_t n = folder ? strlen(folder) : 0;

    while (n > 0 && folder[n - 1] == '/')
        n--;
    if (folder)
        (void)snprintf(buf, size, "%.*s%s%s", (int)n, folder, n > 0 ? "/" : "", file_name);
    return folder != NULL;
}

const char *addresses_fmp4(const struct conf_http_remux *r, char *buf, size_t size)
{
    size_t n = strlen(r->mount);
    const char *end = n < 4 ? "" : r->mount + n - 4;

    if (!r->enabled || (strcmp(end, ".mp4") != 0 && (!r->fmp4 || strcmp(end, ".flv") != 0)))
        return NULL;
    (void)snprintf(buf, size, "%.*s.mp4", (int)(n - 4), r->mount);
    return buf;
}
