/* SPDX-License-Identifier: MIT */
/* rest.c - ended streams that are only on disk.
 *
 * A stream in memory takes 10 KB or more, and strangers can publish under one name after the other.
 * Once all files of an ended stream are written, memory keeps only its name and the path of its
 * journal, until hls_dispose removes the files or a publisher returns and continues the list. */
#include "base/must.h"
#include "session/workers.h"
#include "sink/hls/stream.h"

#include <stdlib.h>
#include <string.h>

#define SLACK CO_SECONDS(2) /* file times are whole seconds, and files are written a bit later */

struct hls_rest {
    struct hls_rest *next;
    const struct hls_kind *kind;
    struct stream_key *key;
    char *journal;
    co_usec due;      /* when its files are removed */
    co_usec silence;  /* a younger journal means that a publisher returned */
};

struct hls_rests {
    struct hls_rest *first, **end;
    unsigned n;
    bool running;
    struct co *co;    /* that removes files, once it has begun */
};

struct hls_rests *hls_rests_new(void)
{
    struct hls_rests *all = must(calloc(1, sizeof(*all)));

    all->end = &all->first;
    return all;
}

static void free_one(struct hls_rest *r)
{
    (void)stream_key_unref(r->key);
    free(r->journal);
    free(r);
}

static struct hls_rest *take(struct hls_rests *all, struct hls_rest **at)
{
    struct hls_rest *r = *at;

    *at = r->next;
    if (!r->next)
        all->end = at;
    all->n--;
    return r;
}

void hls_rests_free(struct hls_rests *all)
{
    while (all->first)
        free_one(take(all, &all->first));
    free(all);
}

/* There are at most max_connections of them; over that, files of the oldest are removed early. */
static bool are_too_many(const struct hls *h)
{
    return h->rests->n > workers_share(h->env, h->env->conf->max_connections);
}

static struct hls_rest *take_due(struct hls *h, bool *early)
{
    struct hls_rest **at = &h->rests->first;

    *early = are_too_many(h);
    while (!*early && *at && (*at)->due > co_now())
        at = &(*at)->next;
    return *at ? take(h->rests, at) : NULL;
}

static co_usec next_due(const struct hls_rests *all)
{
    co_usec next = all->first->due;

    for (const struct hls_rest *r = all->first; r; r = r->next)
        next = r->due < next ? r->due : next;
    return next;
}

static err_t remove_due(void *hls)
{
    struct hls *h = hls;
    err_t err = NULL;

    h->rests->co = co_self();
    while (h->rests->n > 0 && !err) {
        bool early;
        struct hls_rest *r = take_due(h, &early);

        if (r) {
            err = hls_remove_files(h, r->kind, r->key, r->journal, early ? 0 : r->silence,
                                   early ? "too many streams have ended" : NULL);
            free_one(r);
            co_yield_if_due();
        } else if (co_park(next_due(h->rests) - co_now()) == CO_STOPPED) {
            err = co_check();
        }
    }
    h->rests->running = false;
    h->rests->co = NULL;
    return err;
}

static void start(struct hls *h)
{
    err_t err;

    if (h->rests->co) /* this one may be due first, or one too many */
        co_unpark(h->rests->co);
    if (h->rests->running)
        return;
    err = co_go(&h->group, "hls rests", remove_due, h);
    h->rests->running = !err;
    err_free(&err); /* the next one starts it */
}

bool hls_can_rest(const struct hls_stream *s)
{
    bool written = s->set.recover && s->ready && !s->live && !s->next_publication &&
                   s->disk.begun && s->disk.lane.jobs == 0 && !s->disk.bad && !s->record.whole &&
                   s->list.n > 0;

    for (size_t i = 0; written && i < s->list.n; i++)
        written = s->list.v[i]->on_disk;
    for (size_t i = 0; written && i < s->expired.n; i++)
        written = s->expired.v[i]->on_disk;
    return written;
}

/* hls_dispose is counted from the end of the publisher, and the journal is older than that. */
static void remove_later(struct hls_stream *s)
{
    struct hls_rest *r = must(calloc(1, sizeof(*r)));
    co_usec due = s->ended_at + s->set.dispose, left = due - co_now();

    *r = (struct hls_rest){
        .kind = s->kind, .key = stream_key_ref(s->key), .journal = must_dup(s->record.path),
        .due = due, .silence = left > SLACK ? left - SLACK : 0,
    };
    *s->hls->rests->end = r;
    s->hls->rests->end = &r->next;
    s->hls->rests->n++;
    start(s->hls);
}

void hls_rest(struct hls_stream *s)
{
    hls_rest_forget(s->hls, s->key, s->kind);
    if (s->set.dispose > 0)
        remove_later(s);
    hls_stream_dispose(s, false);
}

void hls_rest_forget(struct hls *h, const struct stream_key *key, const struct hls_kind *kind)
{
    struct hls_rest **at = &h->rests->first;

    while (*at && ((*at)->kind != kind || strcmp((*at)->key->path, key->path) != 0))
        at = &(*at)->next;
    if (*at)
        free_one(take(h->rests, at));
}
