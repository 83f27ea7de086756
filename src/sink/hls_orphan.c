/* SPDX-License-Identifier: MIT */
/* hls_orphan.c - streams of before: their files are on disk, and maybe nobody publishes them again.
 *
 * hls_dispose removes what nobody publishes any more. A server that was killed, or that ended while
 * it waited to do so, leaves that to the next one: when that begins, it looks for playlists where
 * its own would be, and takes those that are just like its own for streams that ended now. Another
 * server may write to the same folder, so it waits first, longer than a list that is alive stays as
 * it is, and leaves alone what was written meanwhile.
 */
#include "base/log.h"
#include "co/thread.h"
#include "sink/hls_stream.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { ORPHANS_MAX = 10000, FRAGMENTS = 3 /* in which a list that is alive changes */ };

/* On a thread: which files are there, and were not written since. */
struct search {
    char pattern[HLS_NAME_MAX];
    time_t since;
    glob_t found;
};

static void run(void *arg)
{
    struct search *x = arg;

    (void)glob(x->pattern, GLOB_NOSORT, NULL, &x->found);
    for (size_t i = 0; i < x->found.gl_pathc; i++) {
        struct stat st;

        if (stat(x->found.gl_pathv[i], &st) != 0 || st.st_mtime > x->since)
            x->found.gl_pathv[i][0] = '\0';
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
static bool pattern_of(const struct conf_vhost *v, char *out, size_t size)
{
    struct wr w;
    unsigned apps = 0, streams = 0, here = 0;
    bool fine = true;

    wr_init(&w, size - 1);
    for (const char *p = v->hls.path; *p; p++)
        wr_printf(&w, strchr("*?[\\", *p) ? "\\%c" : "%c", *p);
    wr_printf(&w, "/");
    for (const char *p = v->hls.m3u8_file; *p && fine; p++) {
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
static bool names_of(const struct conf_vhost *v, const char *path, struct names *out)
{
    const char *text = v->hls.m3u8_file;

    for (path += strlen(v->hls.path) + 1; *text && *path;) {
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

/* Two vhosts may have the same files: whose they are is not to be told. */
static bool is_alone(const struct conf *c, const struct conf_vhost *v)
{
    for (size_t i = 0; i < c->vhost.n; i++) {
        const struct conf_hls *other = &c->vhost.v[i].hls;

        if (&c->vhost.v[i] != v && other->enabled && strcmp(other->path, v->hls.path) == 0 &&
            strcmp(other->m3u8_file, v->hls.m3u8_file) == 0 && !strstr(other->m3u8_file, "[vhost]"))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------ streams */

static bool adopt(struct hls *h, struct conf *conf, const struct conf_vhost *v, const char *path)
{
    struct names names;
    struct serve_stream x = { .vhost = v->name, .app = names.app, .name = names.stream };
    struct hls_stream *s;

    if (!names_of(v, path, &names) || hls_stream_find(h, &x, false))
        return false;
    s = hls_stream_new(h, &x, conf, v, false, 0);
    if (!s)
        return false;
    if (strcmp(s->m3u8_path, path) != 0 || !hls_recover_list(s) || !hls_list_is_ours(s) ||
        hls_stream_find(h, &x, false)) { /* it is published by now */
        hls_stream_dispose(s, false);
        return false;
    }
    hls_remove_leftovers(s);
    s->ready = s->orphan = s->list_swapped = true;
    hls_stream_add(h, s);
    hls_stream_idle(s);
    return true;
}

static err_t search_vhost(struct hls *h, struct conf *conf, const struct conf_vhost *v,
                          time_t since)
{
    struct search *x = calloc(1, sizeof(*x));
    unsigned n = 0;
    err_t err;

    if (!x)
        abort();
    if (!pattern_of(v, x->pattern, sizeof(x->pattern))) {
        drop(x);
        return NULL;
    }
    x->since = since;
    err = co_thread_run(CO_POOL_FILE, run, x, drop, CO_FOREVER);
    if (err)
        return err;
    for (size_t i = 0; i < x->found.gl_pathc && n < ORPHANS_MAX && !err; i++) {
        if (x->found.gl_pathv[i][0])
            n += adopt(h, conf, v, x->found.gl_pathv[i]);
        err = co_check();
    }
    if (n > 0)
        log_trace("HLS: %u stream%s of before in vhost %s, disposed unless published again", n,
                  n > 1 ? "s" : "", v->name);
    drop(x);
    return err;
}

static bool is_wanted(const struct conf *conf, const struct conf_vhost *v)
{
    return v->enabled && v->hls.enabled && v->hls.dispose > 0 && v->hls.recover &&
           is_alone(conf, v);
}

static co_usec time_to_settle(const struct conf *conf)
{
    co_usec longest = 0;

    for (size_t i = 0; i < conf->vhost.n; i++) {
        const struct conf_vhost *v = &conf->vhost.v[i];

        if (is_wanted(conf, v) && v->hls.fragment * FRAGMENTS > longest)
            longest = v->hls.fragment * FRAGMENTS;
    }
    return longest;
}

err_t hls_adopt(void *hls)
{
    struct hls *h = hls;
    co_usec settle = time_to_settle(h->serve->conf);
    time_t began = time(NULL);
    struct conf *conf;
    err_t err;

    if (settle == 0)
        return NULL;
    err = co_sleep(settle);
    if (err)
        return err;
    conf = conf_ref(h->serve->conf);
    for (size_t i = 0; i < conf->vhost.n && !err; i++) {
        if (is_wanted(conf, &conf->vhost.v[i]))
            err = search_vhost(h, conf, &conf->vhost.v[i], began);
    }
    (void)conf_unref(conf);
    return err;
}
