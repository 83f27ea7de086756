/* SPDX-License-Identifier: MIT */
/* warn.c - warns about valid directives that have no effect or an unexpected one. */
#include "conf/warn.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Vhost that is being checked. */
struct place {
    const struct conf *c;
    const struct conf_vhost *v;
    const struct conf_node *node; /* the vhost in the file, or NULL */
    const struct conf_ctx *ctx;
};

const struct conf_node *conf_warn_node(const struct conf_node *in, const char *path)
{
    while (in && *path) {
        size_t n = strcspn(path, ".");
        const struct conf_node *child = in->first;

        while (child && (strlen(child->name) != n || memcmp(child->name, path, n) != 0))
            child = child->next;
        if (!child)
            break;
        in = child;
        path += n + (path[n] == '.');
    }
    return in;
}

void conf_warn_at(const struct conf_ctx *ctx, const struct conf_node *node, const char *text)
{
    char where[160];
    struct conf_ctx at = *ctx;

    if (node && node->line > 0)
        (void)snprintf(where, sizeof(where), "%.140s:%d", node->file, node->line);
    else
        (void)snprintf(where, sizeof(where), "%.140s",
                       ctx->src->path ? ctx->src->path : "environment");
    at.where = where;
    conf_warn(&at, "%s", text);
}

/* Warns with the line of the directive at this path in the vhost, or of its innermost block. */
__attribute__((format(printf, 3, 4)))
static void warn(const struct place *p, const char *path, const char *fmt, ...)
{
    char text[400];
    va_list ap;
    int n = snprintf(text, sizeof(text), "vhost %.60s: ", p->v->name);

    va_start(ap, fmt);
    (void)vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
    va_end(ap);
    conf_warn_at(p->ctx, conf_warn_node(p->node, path), text);
}

/* ---- URLs of callbacks */

static bool is_http(const char *url)
{
    return strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;
}

static void check_urls(const struct place *p, const char *name, const struct conf_list *urls)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "http_hooks.%.40s", name);
    for (size_t i = 0; i < urls->n; i++) {
        if (!is_http(urls->v[i]))
            warn(p, path, "%s: \"%.80s\" cannot be called: write http://%.80s", name, urls->v[i],
                 urls->v[i]);
    }
}

static void check_hooks(const struct place *p)
{
    const struct conf_block *b = &conf_table_http_hooks;
    const char *backend = p->v->forward.backend;

    for (size_t i = 0; p->v->http_hooks.enabled && i < b->n; i++) {
        if (b->rows[i].kind == CONF_KIND_LIST)
            check_urls(p, b->rows[i].name, (const struct conf_list *)(const void *)
                      ((const char *)&p->v->http_hooks + b->rows[i].offset));
    }
    if (p->v->forward.enabled && *backend && !is_http(backend))
        warn(p, "forward.backend", "forward: backend \"%.80s\" cannot be called: write "
             "http://%.80s", backend, backend);
}

/* ---- forward */

static bool is_here(const struct conf_endpoint *to, const struct conf_endpoints *listen)
{
    bool local = strcmp(to->host, "localhost") == 0 || strncmp(to->host, "127.", 4) == 0 ||
                 strcmp(to->host, "::1") == 0;

    for (size_t i = 0; i < listen->n; i++) {
        if (listen->v[i].port == to->port &&
            (local || strcmp(listen->v[i].host, to->host) == 0))
            return true;
    }
    return false;
}

/* Returns true if the stream keeps its app and name at the destination. */
static bool keeps_name(const char *url)
{
    static const char same[] = "/[app]/[stream]";
    size_t n = url ? strlen(url) : 0;

    return !url || (n >= strlen(same) && strcmp(url + n - strlen(same), same) == 0);
}

static void check_forward(const struct place *p)
{
    const struct conf_endpoints *to = &p->v->forward.destination;
    const struct conf *c = p->c;

    for (size_t i = 0; p->v->forward.enabled && i < to->n; i++) {
        const struct conf_endpoint *e = &to->v[i];
        const char *host = strstr(e->text, "://");

        if (e->scheme != CONF_RTMP)
            continue;
        if (keeps_name(e->url) &&
            (e->tls ? c->rtmps.enabled && is_here(e, &c->rtmps.listen)
                    : is_here(e, &c->rtmp.listen)))
            warn(p, "forward.destination", "forward: %.60s:%d is this server: each stream would "
                 "loop; name another server", e->host, e->port);
        if (host && host[3 + strcspn(host + 3, "/@")] == '@')
            warn(p, "forward.destination", "forward: the user name and password for %.60s are not "
                 "sent; put the service's stream key in the path", e->host);
    }
}

/* ---- the rest of a vhost */

/* Any allow rule rejects clients that match none, for the other action too. */
static void check_security(const struct place *p)
{
    static const char *const names[] = { [CONF_PUBLISH] = "publish", [CONF_PLAY] = "play" };
    const struct conf_security *s = &p->v->security;
    size_t count[2] = { 0 };

    for (size_t i = 0; i < s->allow.n; i++)
        count[s->allow.v[i].action]++;
    for (size_t i = 0; s->enabled && i < s->deny.n; i++) {
        if (s->deny.v[i].bits == 0)
            count[s->deny.v[i].action]++; /* intended */
    }
    for (int i = 0; s->enabled && s->allow.n > 0 && i < 2; i++) {
        if (count[i] == 0)
            warn(p, "security.allow", "security: no rule allows to %s, so every client is refused:"
                 " write \"allow %s all;\", or \"deny %s all;\" to refuse them all", names[i],
                 names[i], names[i]);
    }
}

static void check_files(const struct place *p)
{
    const struct conf_vhost *v = p->v;

    if (v->http_remux.enabled && !p->c->http_server.enabled)
        warn(p, "http_remux", "http_remux is on and has no effect: http_server is off");
    if (v->http_static.enabled && !p->c->http_server.enabled)
        warn(p, "http_static", "http_static is on and has no effect: http_server is off");
    if (v->hls.enabled && v->hls.window < v->hls.fragment)
        warn(p, "hls.hls_window", "hls: hls_window %g s is less than hls_fragment %g s: playlists "
             "would hold one segment; players need at least three",
             (double)v->hls.window / 1e6, (double)v->hls.fragment / 1e6);
}

/* ---- programs */

/* Returns true if the server will find the program. */
static bool is_program(const struct place *p, const char *path)
{
    const char *folder = p->ctx->src->folder, *work = p->c->work_dir;
    char whole[1024];

    if (*path == '/')
        return access(path, X_OK) == 0;
    if (*work == '/')
        folder = "";
    (void)snprintf(whole, sizeof(whole), "%s%s%s/%s", folder, *folder ? "/" : "", work, path);
    return access(whole, X_OK) == 0;
}

static void check_program(const struct place *p, const char *block, size_t nth, const char *path)
{
    const struct conf_node *n = p->node ? p->node->first : NULL;
    char text[400];

    if (!p->ctx->src->folder || !strchr(path, '/') || is_program(p, path))
        return;
    for (size_t i = 0; n; n = n->next) {
        if (strcmp(n->name, block) == 0 && i++ == nth)
            break;
    }
    (void)snprintf(text, sizeof(text), "vhost %.60s: %s: %.120s does not exist: using %.40s of "
                   "the system; install it there, or write \"ffmpeg %.40s;\"",
                   p->v->name, block, path, strrchr(path, '/') + 1, strrchr(path, '/') + 1);
    conf_warn_at(p->ctx, conf_warn_node(n, "ffmpeg"), text);
}

static void check_programs(const struct place *p)
{
    for (size_t i = 0; i < p->v->transcode.n; i++) {
        if (p->v->transcode.v[i].enabled)
            check_program(p, "transcode", i, p->v->transcode.v[i].ffmpeg);
    }
    for (size_t i = 0; i < p->v->ingest.n; i++) {
        if (p->v->ingest.v[i].enabled)
            check_program(p, "ingest", i, p->v->ingest.v[i].ffmpeg);
    }
}

void conf_warn_no_effect(const struct conf *c, const struct conf_node *root,
                         const struct conf_ctx *ctx)
{
    const struct conf_node *node = root->first;
    const char *beat = c->heartbeat.url;

    for (size_t i = 0; i < c->vhost.n; i++, node = node ? node->next : NULL) {
        struct place p = { .c = c, .v = &c->vhost.v[i], .ctx = ctx };

        while (node && strcmp(node->name, "vhost") != 0)
            node = node->next;
        p.node = node;
        if (!p.v->enabled)
            continue;
        check_hooks(&p);
        check_forward(&p);
        check_security(&p);
        check_files(&p);
        check_programs(&p);
    }
    if (c->heartbeat.enabled && !is_http(beat))
        conf_warn_at(ctx, conf_warn_node(root, "heartbeat.url"),
                     "heartbeat: url cannot be called: it must begin with http:// or https://");
    conf_warn_ports(c, root, ctx);
    conf_warn_environment(ctx);
}
