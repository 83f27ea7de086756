/* SPDX-License-Identifier: MIT */
/* ended.c - streams without a publisher that are only on disk, until hls_dispose removes them.
 *
 * A stream in memory takes 10 KB or more, and an attacker can publish under many names. Once all
 * files of an ended stream are written, memory keeps only its name and the path of its journal. A
 * publisher that returns continues the playlist.
 *
 * A killed server leaves such streams to the next one, which searches for their journals at its
 * start and treats them as if they had ended then. A journal that changes meanwhile belongs to
 * another server with the same folder, or to a publisher that returned on another worker: it stays.
 */
#include "base/log.h"
#include "base/must.h"
#include "co/thread.h"
#include "session/stream_owners.h"
#include "session/workers.h"
#include "sink/hls/stream.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* FRAGMENTS: a live playlist changes within this number of fragments. */
enum { FRAGMENTS = 3, DEPTH = 8, ENTRIES_MAX = 1 << 20, FOUND_MAX = 1 << 14 };

#define SLACK CO_SECONDS(2) /* file times are whole seconds, and files are written with a delay */

struct hls_ended {
    struct hls_ended *next;
    const struct hls_format *format;
    struct stream_key *key;
    char *journal;
    bool found;       /* an earlier process left it */
    co_usec due;      /* when its files are removed */
    co_usec since;    /* a journal written after this time has another writer */
};

struct hls_ended_list {
    struct hls_ended *first, **end;
    unsigned n;       /* number of entries, without those found */
    bool running;
    struct co *co;    /* the coroutine that removes files; NULL until it starts */
};

struct hls_ended_list *hls_ended_new(void)
{
    struct hls_ended_list *all = must(calloc(1, sizeof(*all)));

    all->end = &all->first;
    return all;
}

static void free_one(struct hls_ended *r)
{
    (void)stream_key_unref(r->key);
    free(r->journal);
    free(r);
}

static struct hls_ended *take(struct hls_ended_list *all, struct hls_ended **at)
{
    struct hls_ended *r = *at;

    *at = r->next;
    if (!r->next)
        all->end = at;
    all->n -= !r->found;
    return r;
}

void hls_ended_free(struct hls_ended_list *all)
{
    while (all->first)
        free_one(take(all, &all->first));
    free(all);
}

/* ------------------------------------------------------------ journals, on a helper thread */

/* The journals below a folder. */
struct search {
    char *root;
    unsigned entries;
    struct found {
        char *path;
        struct journal journal; /* only the names */
    } *v;
    size_t n, cap;
};

static bool is_journal(const char *name)
{
    size_t n = strlen(name), end = strlen(HLS_JOURNAL_END);

    return name[0] == '.' && n > end && strcmp(name + n - end, HLS_JOURNAL_END) == 0;
}

/* Takes over `path`. */
static void read_names(struct search *x, char *path)
{
    struct disk_job job = { 0 };
    struct found one = { .path = path };
    size_t size;
    char *text = disk_read_file(&job, path, JOURNAL_MAX, &size);
    const char *newline = text ? memchr(text, '\n', size) : NULL;

    if (newline && x->n < FOUND_MAX &&
        journal_read(&one.journal, text, (size_t)(newline + 1 - text))) {
        x->v = must_room(x->v, x->n, &x->cap, sizeof(x->v[0]));
        x->v[x->n++] = one;
    } else {
        journal_free(&one.journal);
        free(path);
    }
    free(text);
}

/* Follows links, up to the same depth as folders. */
static void walk(struct search *x, const char *folder, unsigned depth)
{
    DIR *d = opendir(folder);
    const struct dirent *e;

    while (d && x->entries < ENTRIES_MAX && (e = readdir(d))) {
        bool deeper = e->d_type == DT_DIR || e->d_type == DT_LNK || e->d_type == DT_UNKNOWN;

        x->entries++;
        if (is_journal(e->d_name)) {
            read_names(x, must_print("%s/%s", folder, e->d_name));
        } else if (deeper && e->d_name[0] != '.' && depth < DEPTH) {
            char *path = must_print("%s/%s", folder, e->d_name);

            walk(x, path, depth + 1);
            free(path);
        }
    }
    if (d)
        (void)closedir(d);
}

static void run_search(void *arg)
{
    struct search *x = arg;

    walk(x, x->root, 0);
}

static void free_search(void *arg)
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

/* ------------------------------------------------------------ removal */

/* Returns false if another worker owns the stream and continues its files. A stream that is
 * published now comes here, because this worker holds its ownership. */
static bool is_here(const struct hls_stream *s)
{
    return !s->owner || stream_owner_worker(s->owner) == s->info.hls->env->worker;
}

static void log_removal(const struct hls_info *info, const struct hls_ended *r, bool early)
{
    if (early)
        log_trace("%s: its files were removed, too many streams have ended", info->name);
    else if (r->found)
        log_trace("%s: its files were removed, it had no publisher since the server started",
                  info->name);
    else
        log_trace("%s: its files were removed, it had no publisher for %lld s", info->name,
                  us_to_s(info->set.dispose));
}

static void remove_files(struct hls *h, const struct hls_ended *r, bool early)
{
    const struct session_stream names = { .vhost = r->key->vhost, .app = r->key->app,
                                          .name = r->key->name };
    struct conf *conf = conf_ref(h->env->conf);
    const struct conf_vhost *v = conf_vhost_find(conf, names.vhost);
    struct hls_stream *s = NULL;
    co_usec silence = co_now() - r->since;
    bool removes;

    if (v && !hls_stream_find(h, &names, r->format))
        s = hls_stream_new(h, &names, conf, v, r->format, 0);
    (void)conf_unref(conf);
    if (!s)
        return;
    s->info.disposing = true;
    removes = is_here(s) && strcmp(s->store.record.path, r->journal) == 0 &&
              hls_recover_list(s, silence > 0 ? silence : 0) &&
              !hls_stream_find(h, &names, r->format); /* it may have been published meanwhile */
    if (removes)
        log_removal(&s->info, r, early);
    hls_stream_dispose(s, removes);
}

/* At most max_connections ended streams are kept; over that, the oldest are removed early. */
static struct hls_ended *take_due(struct hls *h, bool *early)
{
    struct hls_ended **at = &h->ended->first;

    *early = h->ended->n > workers_share(h->env, h->env->conf->max_connections);
    while (*at && (*early ? (*at)->found : (*at)->due > co_now()))
        at = &(*at)->next;
    return *at ? take(h->ended, at) : NULL;
}

static co_usec next_due(const struct hls_ended_list *all)
{
    co_usec next = all->first->due;

    for (const struct hls_ended *r = all->first; r; r = r->next)
        next = r->due < next ? r->due : next;
    return next;
}

static err_t remove_due(void *hls)
{
    struct hls *h = hls;
    err_t err = NULL;

    h->ended->co = co_self();
    while (h->ended->first && !err) {
        bool early;
        struct hls_ended *r = take_due(h, &early);

        if (r) {
            remove_files(h, r, early);
            free_one(r);
            co_yield_if_due();
            err = co_check();
        } else if (co_park(next_due(h->ended) - co_now()) == CO_STOPPED) {
            err = co_check();
        }
    }
    h->ended->running = false;
    h->ended->co = NULL;
    return err;
}

static void add(struct hls *h, struct hls_ended one)
{
    struct hls_ended *r = must(calloc(1, sizeof(*r)));
    err_t err;

    *r = one;
    *h->ended->end = r;
    h->ended->end = &r->next;
    h->ended->n += !r->found;
    if (h->ended->co) /* this stream may be due first, or exceed the limit */
        co_unpark(h->ended->co);
    if (h->ended->running)
        return;
    err = co_go(&h->sink.group, "hls ended", remove_due, h);
    h->ended->running = !err;
    err_free(&err); /* the next one starts it */
}

/* ------------------------------------------------------------ streams that end */

bool hls_is_on_disk(const struct hls_stream *s)
{
    const struct hls_store *store = &s->store;
    bool written = s->info.set.recover && s->ready && !s->info.live && !s->next_publication &&
                   store->begun && store->lane.jobs == 0 && !store->bad &&
                   !store->record.whole && s->list.q.n > 0;

    for (size_t i = 0; written && i < s->list.q.n; i++)
        written = s->list.q.v[i]->on_disk;
    for (size_t i = 0; written && i < s->list.expired.n; i++)
        written = s->list.expired.v[i]->on_disk;
    return written;
}

void hls_ended_add(struct hls_stream *s)
{
    co_usec due = s->ended_at + s->info.set.dispose, since = co_now() + SLACK;

    hls_ended_forget(s->info.hls, s->info.key, s->info.format);
    if (s->info.set.dispose > 0) /* counts from the end of the publisher; the journal is older */
        add(s->info.hls, (struct hls_ended){
            .format = s->info.format, .key = stream_key_ref(s->info.key),
            .journal = must_dup(s->store.record.path),
            .since = since, .due = due > since + SLACK ? due : since + SLACK });
    hls_stream_dispose(s, false);
}

void hls_ended_forget(struct hls *h, const struct stream_key *key, const struct hls_format *format)
{
    struct hls_ended **at = &h->ended->first;

    while (*at && ((*at)->format != format || strcmp((*at)->key->path, key->path) != 0))
        at = &(*at)->next;
    if (*at)
        free_one(take(h->ended, at));
}

/* ------------------------------------------------------------ streams of an earlier process */

static void add_found(struct hls *h, const struct conf_vhost *v, const struct conf_hls *set,
                      const struct hls_format *format, const struct found *f)
{
    const struct journal *j = &f->journal;
    co_usec alive = set->fragment * FRAGMENTS;
    co_usec silence = set->dispose > alive ? set->dispose : alive;

    if (strcmp(j->vhost, v->name) == 0 && strcmp(j->kind, format->name) == 0)
        add(h, (struct hls_ended){
            .format = format, .key = stream_key_new(j->vhost, j->app, j->stream),
            .journal = must_dup(f->path), .found = true, .since = co_now() + CO_SECONDS(1),
            .due = co_now() + silence + CO_SECONDS(1) });
}

static err_t search_folder(struct hls *h, const struct conf_vhost *v, const struct conf_hls *set,
                           const struct hls_format *format)
{
    struct search *x = must(calloc(1, sizeof(*x)));
    err_t err;

    x->root = must_dup(set->path);
    err = co_thread_run(CO_POOL_FILE, run_search, x, free_search, CO_FOREVER);
    if (err)
        return err;
    for (size_t i = 0; i < x->n; i++)
        add_found(h, v, set, format, &x->v[i]);
    free_search(x);
    return co_check();
}

err_t hls_ended_search(void *hls)
{
    struct hls *h = hls;
    struct conf *conf = conf_ref(h->env->conf);
    err_t err = NULL;

    for (size_t i = 0; i < conf->vhost.n * HLS_FORMATS && !err; i++) {
        const struct conf_vhost *v = &conf->vhost.v[i / HLS_FORMATS];
        const struct hls_format *format = &hls_formats[i % HLS_FORMATS];
        struct conf_hls set;

        format->settings(v, &set);
        if (v->enabled && set.enabled && set.dispose > 0 && set.recover)
            err = search_folder(h, v, &set, format);
    }
    (void)conf_unref(conf);
    return err;
}
