/* SPDX-License-Identifier: MIT */
/* orphan.c - streams of an earlier process that nobody publishes again: their files go.
 *
 * hls_dispose removes what nobody publishes any more. A server that was killed, or that ended while
 * it waited to do so, leaves that to the next one. It waits as long, as if all had ended when it
 * began, and then looks for journals. Those that nobody wrote meanwhile (another server may share
 * the folder) go with the files they name.
 */
#include "base/log.h"
#include "base/must.h"
#include "co/thread.h"
#include "session/homes.h"
#include "sink/hls/stream.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* FRAGMENTS: in which a list that is alive changes. */
enum { FRAGMENTS = 3, DEPTH = 8, ENTRIES_MAX = 1 << 20, FOUND_MAX = 1 << 16 };

#define LATER CO_SECONDS(1) /* than the first moment: times of files are whole seconds here */

/* ------------------------------------------------------------ on a thread */

struct found {
    char *path;
    struct journal journal; /* whose it is */
};

/* Which journals are there that nobody wrote for a while. */
struct search {
    char *root;
    time_t silence; /* seconds */
    unsigned entries;
    struct found *v;
    size_t n, cap;
};

static bool is_journal(const char *name)
{
    size_t n = strlen(name), end = strlen(HLS_JOURNAL_END);

    return name[0] == '.' && n > end && strcmp(name + n - end, HLS_JOURNAL_END) == 0;
}

static bool is_silent(const struct search *x, const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && time(NULL) - st.st_mtime >= x->silence;
}

/* Takes the path over. */
static void look(struct search *x, char *path)
{
    struct disk_job job = { 0 };
    struct found one = { .path = path };
    size_t size;
    char *text = is_silent(x, path) ? disk_read_file(&job, path, JOURNAL_MAX, &size) : NULL;

    if (text && x->n < FOUND_MAX && journal_read(&one.journal, text, size)) {
        if (x->n == x->cap) {
            x->cap = x->cap ? x->cap * 2 : 16;
            x->v = must(realloc(x->v, x->cap * sizeof(x->v[0])));
        }
        x->v[x->n++] = one;
    } else {
        journal_free(&one.journal);
        free(path);
    }
    free(text);
}

/* Links are followed as far as folders are deep. */
static void walk(struct search *x, const char *folder, unsigned depth)
{
    DIR *d = opendir(folder);
    const struct dirent *e;

    while (d && x->entries < ENTRIES_MAX && (e = readdir(d))) {
        bool deeper = e->d_type == DT_DIR || e->d_type == DT_LNK || e->d_type == DT_UNKNOWN;

        x->entries++;
        if (is_journal(e->d_name)) {
            look(x, must_print("%s/%s", folder, e->d_name));
        } else if (deeper && e->d_name[0] != '.' && depth < DEPTH) {
            char *path = must_print("%s/%s", folder, e->d_name);

            walk(x, path, depth + 1);
            free(path);
        }
    }
    if (d)
        (void)closedir(d);
}

static void run(void *arg)
{
    struct search *x = arg;

    walk(x, x->root, 0);
}

/* root: of one journal alone. */
static void run_one(void *arg)
{
    struct search *x = arg;

    look(x, must_dup(x->root));
}

static void drop(void *arg)
{
    struct search *x = arg;

    for (size_t i = 0; i < x->n; i++) {
        journal_free(&x->v[i].journal);
        free(x->v[i].path);
    }
    free(x->v);
    free(x->root);
    free(x);
}

/* ------------------------------------------------------------ streams */

/* Nobody wrote for so long: hls_dispose, but longer than a server takes that does write. */
static co_usec silence_of(const struct conf_hls *set)
{
    co_usec alive = set->fragment * FRAGMENTS;

    return set->dispose > alive ? set->dispose : alive;
}

/* Another worker has the stream, and goes on with what is there. One that is published now comes
 * here: its home is held. */
static bool is_here(const struct hls_stream *s)
{
    return !s->home || home_worker(s->home) == s->hls->env->worker;
}

static bool remove_one(struct hls *h, struct conf *conf, const struct conf_vhost *v,
                       const struct hls_kind *kind, const struct found *f, const char *why)
{
    const struct session_stream names = { .vhost = v->name, .app = f->journal.app,
                                          .name = f->journal.stream };
    struct hls_stream *s;
    bool go;

    if (strcmp(f->journal.vhost, v->name) != 0 || strcmp(f->journal.kind, kind->name) != 0 ||
        hls_stream_find(h, &names, kind))
        return false;
    s = hls_stream_new(h, &names, conf, v, kind, 0);
    if (!s)
        return false;
    s->disposing = true;
    go = is_here(s) && strcmp(s->record.path, f->path) == 0 && hls_recover_list(s) &&
         !hls_stream_find(h, &names, kind); /* somebody may have published meanwhile */
    if (go && why)
        log_trace("%s: its files are removed, %s", s->name, why);
    else if (go)
        log_trace("%s: its files are removed, nobody published for %lld s", s->name,
                  us_to_s(s->set.dispose));
    hls_stream_dispose(s, go);
    return go;
}

static err_t search_vhost(struct hls *h, struct conf *conf, const struct conf_vhost *v,
                          const struct conf_hls *set, const struct hls_kind *kind)
{
    struct search *x = must(calloc(1, sizeof(*x)));
    unsigned n = 0;
    err_t err;

    x->silence = (time_t)us_to_s(silence_of(set));
    x->root = must_dup(set->path);
    err = co_thread_run(CO_POOL_FILE, run, x, drop, CO_FOREVER);
    if (err)
        return err;
    for (size_t i = 0; i < x->n && !err; i++) {
        n += remove_one(h, conf, v, kind, &x->v[i],
                        "nobody published since the server began");
        err = co_check();
    }
    if (n > 0)
        log_trace("%s: files of %u stream%s of before removed", kind->name, n, n > 1 ? "s" : "");
    drop(x);
    return err;
}

err_t hls_remove_files(struct hls *h, const struct hls_kind *kind, const struct stream_key *key,
                       const char *journal, co_usec silence, const char *why)
{
    struct search *x = must(calloc(1, sizeof(*x)));
    struct conf *conf = conf_ref(h->env->conf);
    const struct conf_vhost *v = conf_vhost_find(conf, key->vhost);
    err_t err;

    x->silence = (time_t)us_to_s(silence);
    x->root = must_dup(journal);
    err = co_thread_run(CO_POOL_FILE, run_one, x, drop, CO_FOREVER);
    if (!err && v && x->n == 1)
        (void)remove_one(h, conf, v, kind, &x->v[0], why);
    if (!err)
        drop(x);
    (void)conf_unref(conf);
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
        else
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
