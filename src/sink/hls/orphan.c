/* SPDX-License-Identifier: MIT */
/* orphan.c - streams of an earlier process that nobody publishes again: their files go.
 *
 * hls_dispose removes what nobody publishes any more. A server that was killed, or that ended while
 * it waited to do so, leaves that to the next one. It waits as long, as if all had ended when it
 * began, and then looks for playlists where its own would be. Those that nobody wrote meanwhile
 * (another server may share the folder), and that are just like its own, go with their files.
 */
#include "base/log.h"
#include "base/must.h"
#include "co/thread.h"
#include "sink/hls/stream.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { FRAGMENTS = 3 }; /* in which a list that is alive changes */

#define LATER CO_SECONDS(1) /* than the first moment: times of files are whole seconds here */

/* On a thread: which files are there that nobody wrote for a while. */
struct search {
    char pattern[HLS_NAME_MAX];
    time_t silence; /* seconds */
    glob_t found;
};

static void run(void *arg)
{
    struct search *x = arg;
    time_t now = time(NULL);
    struct stat st;

    (void)glob(x->pattern, GLOB_NOSORT, NULL, &x->found);
    for (size_t i = 0; i < x->found.gl_pathc; i++) {
        char *path = x->found.gl_pathv[i];

        if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || now - st.st_mtime < x->silence)
            *path = '\0';
    }
}

static void drop(void *arg)
{
    struct search *x = arg;

    globfree(&x->found);
    free(x);
}

/* ------------------------------------------------------------ names */

struct names {
    char app[HLS_NAME_MAX], stream[HLS_NAME_MAX];
};

static bool is(const char *text, const char *variable)
{
    return strncmp(text, variable, strlen(variable)) == 0;
}

/* The pattern of all playlists, one variable in each folder's name: else it cannot be told which
 * stream one is of. */
static bool pattern_of(const struct conf_vhost *v, const struct conf_hls *set, char *out,
                       size_t size)
{
    struct wr w;
    unsigned apps = 0, streams = 0, here = 0;
    bool fine = true;

    wr_init(&w, size - 1);
    for (const char *p = set->path; *p; p++)
        wr_printf(&w, strchr("*?[\\", *p) ? "\\%c" : "%c", *p);
    wr_printf(&w, "/");
    for (const char *p = set->m3u8_file; *p && fine; p++) {
        bool app = is(p, "[app]"), stream = is(p, "[stream]");

        here = *p == '/' ? 0 : here + (*p == '[');
        apps += app;
        streams += stream;
        if (app || stream)
            wr_printf(&w, "*");
        else if (is(p, "[vhost]"))
            wr_printf(&w, "%s", v->name);
        else if (*p == '[')
            fine = false;
        else
            wr_printf(&w, strchr("*?\\", *p) ? "\\%c" : "%c", *p);
        if (*p == '[' && fine)
            p += strcspn(p, "]");
        fine &= here <= 1;
    }
    fine = fine && !w.bad && apps == 1 && streams == 1;
    if (fine) {
        memcpy(out, w.buf, w.len);
        out[w.len] = '\0';
    }
    wr_free(&w);
    return fine;
}

/* What the variables stand for in a path that the pattern found. */
static bool names_of(const struct conf_hls *set, const char *path, struct names *out)
{
    const char *text = set->m3u8_file;

    for (path += strlen(set->path) + 1; *text && *path;) {
        char *into = is(text, "[app]") ? out->app : is(text, "[stream]") ? out->stream : NULL;
        size_t variable = *text == '[' ? strcspn(text, "]") + 1 : 1;
        size_t all = strcspn(path, "/"), behind = strcspn(text + variable, "/"), n = 1;

        if (*text == '[') {
            n = all > behind ? all - behind : 0;
            if (n == 0 || n >= HLS_NAME_MAX)
                return false;
        }
        if (into) {
            memcpy(into, path, n);
            into[n] = '\0';
        }
        text += variable;
        path += n;
    }
    return !*text && !*path;
}

/* Nobody wrote for so long: hls_dispose, but more than somebody takes who does write. */
static co_usec silence_of(const struct conf_hls *set)
{
    co_usec alive = set->fragment * FRAGMENTS;

    return set->dispose > alive ? set->dispose : alive;
}

/* Two vhosts may have the same files: whose they are is not to be told. */
static bool is_alone(const struct conf *c, const struct conf_vhost *v, const struct conf_hls *set,
                     const struct hls_kind *kind)
{
    for (size_t i = 0; i < c->vhost.n; i++) {
        struct conf_hls other;

        kind->settings(&c->vhost.v[i], &other);
        if (&c->vhost.v[i] != v && other.enabled && strcmp(other.path, set->path) == 0 &&
            strcmp(other.m3u8_file, set->m3u8_file) == 0 && !strstr(set->m3u8_file, "[vhost]"))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------ streams */

/* It may be that there is a file with this name that has nothing to do with us. */
static bool recovers(struct hls_stream *s, const char *path)
{
    if (strcmp(s->m3u8_path, path) != 0)
        return false;
    return s->kind->take_list(s);
}

static bool remove_one(struct hls *h, struct conf *conf, const struct conf_vhost *v,
                       const struct conf_hls *set, const struct hls_kind *kind,
                       const char *path)
{
    struct names names;
    struct session_stream x = { .vhost = v->name, .app = names.app, .name = names.stream };
    struct hls_stream *s;
    bool go;

    if (!*path || !names_of(set, path, &names) || hls_stream_find(h, &x, kind))
        return false;
    s = hls_stream_new(h, &x, conf, v, kind, 0);
    if (!s)
        return false;
    go = recovers(s, path) && !hls_stream_find(h, &x, kind); /* it is not published by now */
    if (go) {
        log_trace("%s of %s/%s: its files are removed, nobody published since the server began",
                  s->kind->name, s->app, s->stream);
        s->disposing = s->list_swapped = true;
        s->kind->remove_rest(s);
    }
    hls_stream_dispose(s, go);
    return go;
}

static err_t search_vhost(struct hls *h, struct conf *conf, const struct conf_vhost *v,
                          const struct conf_hls *set, const struct hls_kind *kind)
{
    struct search *x = must(calloc(1, sizeof(*x)));
    unsigned n = 0;
    err_t err;

    x->silence = (time_t)(silence_of(set) / 1000000);
    if (!pattern_of(v, set, x->pattern, sizeof(x->pattern))) {
        drop(x);
        return NULL;
    }
    err = co_thread_run(CO_POOL_FILE, run, x, drop, CO_FOREVER);
    if (err)
        return err;
    for (size_t i = 0; i < x->found.gl_pathc && !err; i++) {
        n += remove_one(h, conf, v, set, kind, x->found.gl_pathv[i]);
        err = co_check();
    }
    if (n > 0)
        log_trace("%s: files of %u stream%s of before removed", kind->name, n,
                  n > 1 ? "s" : "");
    drop(x);
    return err;
}

/* Of vhosts where it lasts longer than `done` and up to `when`; and the next such time, 0: none. */
static err_t search_all(struct hls *h, co_usec done, co_usec when, co_usec *next)
{
    struct conf *conf = conf_ref(h->env->conf);
    err_t err = NULL;

    *next = 0;
    for (size_t i = 0; i < conf->vhost.n * HLS_KINDS && !err; i++) {
        const struct conf_vhost *v = &conf->vhost.v[i / HLS_KINDS];
        const struct hls_kind *kind = &hls_kinds[i % HLS_KINDS];
        struct conf_hls set;
        co_usec lasts;

        kind->settings(v, &set);
        lasts = silence_of(&set);
        if (!v->enabled || !set.enabled || set.dispose == 0 || !set.recover || lasts <= done)
            continue;
        if (lasts > when)
            *next = *next && *next < lasts ? *next : lasts;
        else if (is_alone(conf, v, &set, kind))
            err = search_vhost(h, conf, v, &set, kind);
    }
    (void)conf_unref(conf);
    return err;
}

err_t hls_remove_orphans(void *hls)
{
    co_usec began = co_now(), done = 0, next = 0;
    err_t err = search_all(hls, 0, 0, &next);

    while (next > 0 && !err) {
        co_usec when = next, until = began + when + LATER;

        if (co_now() < until)
            err = co_sleep(until - co_now());
        if (!err)
            err = search_all(hls, done, when, &next);
        done = when;
    }
    return err;
}
