/* SPDX-License-Identifier: MIT */
/* start_paths.c - warns of configured folders and keys that do not exist. */
#include "app/start.h"
#include "conf/protocol.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Checks the access to a path, which is relative to work_dir. */
static bool may(const struct start *s, const struct conf *c, const char *path, int mode)
{
    char whole[PATH_MAX];
    const char *work = *c->work_dir ? c->work_dir : ".";
    int n;

    if (path[0] == '/')
        return access(path, mode) == 0;
    n = work[0] == '/' ? snprintf(whole, sizeof(whole), "%s/%s", work, path)
                       : snprintf(whole, sizeof(whole), "%s/%s/%s", s->folder, work, path);
    return n >= (int)sizeof(whole) || access(whole, mode) == 0;
}

static void warn_if_missing(struct start *s, const struct conf *c, const char *path,
                            const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static void warn_if_missing(struct start *s, const struct conf *c, const char *path,
                            const char *fmt, ...)
{
    char what[200];
    va_list ap;

    if (!*path || may(s, c, path, F_OK))
        return;
    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    start_warn(s, "%s: %s is not there", what, path);
}

/* The folder of HLS and DASH segments is created with the first segment. */
static bool is_created(const struct conf *c, const char *dir)
{
    for (size_t i = 0; i < c->vhost.n; i++) {
        const struct conf_vhost *v = &c->vhost.v[i];

        if ((v->hls.enabled && strcmp(v->hls.path, dir) == 0) ||
            (v->dash.enabled && strcmp(v->dash.path, dir) == 0))
            return true;
    }
    return false;
}

static void check_tls(struct start *s, const struct conf *c)
{
    const struct conf_served *of = NULL;
    enum protocol_id id = 0;

    while ((of = conf_served_next(of, &id))) {
        const struct conf_tls *tls = conf_served_is_on(of, c) ? conf_served_tls(of, c) : NULL;

        if (!tls)
            continue;
        warn_if_missing(s, c, tls->key, "key of %s", of->name);
        warn_if_missing(s, c, tls->cert, "cert of %s", of->name);
        for (size_t k = 0; k < tls->certificate.n; k++) {
            warn_if_missing(s, c, tls->certificate.v[k].key, "key of %.60s",
                            tls->certificate.v[k].name);
            warn_if_missing(s, c, tls->certificate.v[k].cert, "cert of %.60s",
                            tls->certificate.v[k].name);
        }
    }
}

/* Checks the folder of a file that ffmpeg writes, since ffmpeg creates none. The path is only known
 * up to its first variable. */
static void check_output(struct start *s, const struct conf *c, const struct conf_engine *e,
                        const char *what)
{
    char folder[PATH_MAX];
    size_t size = strcspn(e->output, "[");

    if (!e->enabled || strstr(e->output, "://") || size >= sizeof(folder))
        return;
    while (size > 0 && e->output[size - 1] != '/')
        size--;
    memcpy(folder, e->output, size);
    folder[size] = '\0';
    warn_if_missing(s, c, folder, "output of %s", what);
}

static void check_files(struct start *s, const struct conf *c, const struct conf_vhost *v)
{
    warn_if_missing(s, c, v->vod.dir, "dir of vod of vhost %.60s", v->name);
    if (may(s, c, v->vod.dir, F_OK) && !may(s, c, v->vod.dir, R_OK | X_OK))
        start_warn(s, "dir of vod of vhost %.60s: %s cannot be read", v->name, v->vod.dir);
}

static void check_vhost(struct start *s, const struct conf *c, const struct conf_vhost *v)
{
    if (v->vod.enabled)
        check_files(s, c, v);
    if (v->http_static.enabled)
        warn_if_missing(s, c, v->http_static.dir, "dir of http_static of vhost %.60s", v->name);
    for (size_t i = 0; i < v->transcode.n; i++) {
        const struct conf_transcode *t = &v->transcode.v[i];

        for (size_t k = 0; t->enabled && k < t->engine.n; k++)
            check_output(s, c, &t->engine.v[k], "transcode");
    }
    for (size_t i = 0; i < v->ingest.n; i++) {
        const struct conf_ingest *in = &v->ingest.v[i];

        for (size_t k = 0; in->enabled && k < in->engine.n; k++)
            check_output(s, c, &in->engine.v[k], "ingest");
    }
}

void start_paths_check(struct start *s, const struct conf *c)
{
    if (c->http_server.enabled && !is_created(c, c->http_server.dir))
        warn_if_missing(s, c, c->http_server.dir, "dir of http_server");
    check_tls(s, c);
    for (size_t i = 0; i < c->vhost.n; i++) {
        if (c->vhost.v[i].enabled)
            check_vhost(s, c, &c->vhost.v[i]);
    }
}
