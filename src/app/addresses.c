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

enum { HOST_MAX = 300, TEXT_MAX = 1024 };

/* What a row is made with. */
struct example {
    const struct conf *c;
    const struct conf_vhost *vhost;
    char host[HOST_MAX];         /* and the port, unless it is the usual one */
    char query[HOST_MAX];        /* "?vhost=NAME", or nothing for the default vhost */
    char srt[HOST_MAX];          /* the same inside a streamid: "h=NAME," */
};

typedef bool shape_fn(const struct example *e, char *buf, size_t size);

/* ---- which rows there are */

static bool rtc(const struct example *e, const char *way, char *buf, size_t size)
{
    (void)snprintf(buf, size, "http://%s/rtc/v1/%s/?app=live&stream=livestream%s%s", e->host, way,
                   *e->query ? "&" : "", *e->query ? e->query + 1 : "");
    return e->c->rtc_server.enabled && e->c->http_api.enabled && e->vhost->rtc.enabled;
}

static bool whip(const struct example *e, char *buf, size_t size)
{
    return rtc(e, "whip", buf, size);
}

static bool whep(const struct example *e, char *buf, size_t size)
{
    return rtc(e, "whep", buf, size);
}

/* Writes a path with variables as that of the example; false if it is too long. */
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
    int usual;        /* the port that an address need not say */
    shape_fn *shape;  /* writes the address; false: it is off */
} rows[] = {
    { "WebRTC", "publish", offsetof(struct conf, http_api.listen), 80, whip },
    { "WebRTC", "play", offsetof(struct conf, http_api.listen), 80, whep },
    { "HTTP-FLV", "play", offsetof(struct conf, http_server.listen), 80, flv },
    { "MP4", "play", offsetof(struct conf, http_server.listen), 80, fmp4 },
    { "HLS", "play", offsetof(struct conf, http_server.listen), 80, hls },
    { "DASH", "play", offsetof(struct conf, http_server.listen), 80, dash },
    { "web page", "play", offsetof(struct conf, http_server.listen), 80, page },
    { "console", "watch", offsetof(struct conf, http_api.listen), 80, console },
};

static bool is_any(const char *host)
{
    return !*host || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

static void set_host(struct example *e, const struct conf_endpoint *at, int usual)
{
    char own[64];
    const char *host = is_any(at->host) ? machine_address(e->c->stats.network, own, sizeof(own))
                                        : at->host;
    bool bracket = strchr(host, ':') != NULL;
    int n = snprintf(e->host, sizeof(e->host), "%s%.200s%s", bracket ? "[" : "",
                     *host ? host : "127.0.0.1", bracket ? "]" : "");

    if (at->port != usual)
        (void)snprintf(e->host + n, sizeof(e->host) - (size_t)n, ":%d", at->port);
}

static void tell_row(struct example *e, size_t i)
{
    const struct conf_endpoints *listen = (const void *)((const char *)e->c + rows[i].listen);
    char text[TEXT_MAX];

    if (listen->n == 0)
        return;
    set_host(e, &listen->v[0], rows[i].usual);
    if (rows[i].shape(e, text, sizeof(text)))
        log_public(LINE, rows[i].name, rows[i].use, text);
}

static void tell_served(struct example *e, const struct conf_served *s)
{
    const struct conf_endpoints *listen = conf_served_listen(s, e->c);

    if (listen->n == 0 || !conf_served_is_on(s, e->c))
        return;
    set_host(e, &listen->v[0], s->usual);
    for (size_t i = 0; i < sizeof(s->addresses) / sizeof(s->addresses[0]); i++) {
        const struct conf_variable v[] = {
            { "host", e->host }, { "query", e->query }, { "h", e->srt },
        };
        const struct conf_expand with = { .v = v, .n = 3, .msec = -1 };
        char text[TEXT_MAX];
        err_t err = s->addresses[i].use
                    ? conf_expand(s->addresses[i].format, &with, text, sizeof(text)) : NULL;

        if (!err && s->addresses[i].use)
            log_public(LINE, s->text, s->addresses[i].use, text);
        err_free(&err);
    }
}

static void tell_protocols(struct example *e)
{
    const struct conf_served *s = NULL;
    enum protocol_id id = 0;

    while ((s = conf_served_next(s, &id))) {
        if (conf_protocol_in(conf_protocol(id), e->vhost))
            tell_served(e, s);
    }
}

void addresses_tell(const struct conf *c)
{
    struct example e = { .c = c, .vhost = conf_vhost_find(c, "") };

    if (!e.vhost)
        e.vhost = c->vhost.n > 0 ? &c->vhost.v[0] : NULL;
    if (!e.vhost)
        return;
    if (strcmp(e.vhost->name, "__defaultVhost__") != 0) {
        (void)snprintf(e.query, sizeof(e.query), "?vhost=%.200s", e.vhost->name);
        (void)snprintf(e.srt, sizeof(e.srt), "h=%.200s,", e.vhost->name);
    }
    log_trace("ready; live/livestream stands for any application and stream:");
    tell_protocols(&e);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        tell_row(&e, i);
}

/* ---- files */

/* What is left of a path below a folder, or NULL: of "./a/b/" below "a" it is "b/". */
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
