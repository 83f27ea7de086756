/* SPDX-License-Identifier: MIT */
/* collect.c - lists the streams of all workers, each stream once. */
#include "app/api/collect.h"

#include "base/must.h"
#include "base/text.h"
#include "base/wr.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 1 << 30 };

/* ---- on each worker */

static void put_stat(struct collect_part *part, struct collect_row *row,
                     const struct clients_stream *s)
{
    struct live_source_stat stat;

    live_source_stat(s->src, &stat);
    if (part->stats) {
        part->stats[part->n] = stat;
        row->stat = &part->stats[part->n];
    }
    if (s->replicas || s->file) {
        row->out_bytes = clients_stream_out(s, &stat);
        row->dropped = stat.dropped;
    }
}

static void put_row(struct collect_part *part, const struct clients_stream *s, unsigned worker)
{
    struct collect_row *row = &part->v[part->n];

    *row = (struct collect_row){
        .worker = (uint8_t)worker, .named = s->key != NULL,
        .at_home = !s->replicas, .file = s->file,
        .publishes = s->publisher != NULL, .clients = s->clients, .forwards = s->forwards,
        .in_kbps = s->in_kbps.s30_kbps, .out_kbps = s->out_kbps.s30_kbps,
        .vhost_n = (unsigned)strlen(s->vhost->name),
        .app_n = (unsigned)strlen(text_or_empty(s->app)),
    };
    if (part->stats || s->replicas || s->file)
        put_stat(part, row, s);
    part->n++;
}

/* Holds a reference to each source, so that sources may be added and removed meanwhile. */
static void collect_part(struct session_env *env, void *arg)
{
    struct collect_part *part = arg;
    struct wr names;
    size_t n;
    struct live_source **src = live_registry_all(env->streams, &n);
    const char *name;

    wr_init(&names, NAMES_MAX);
    part->v = must(malloc((n + 1) * sizeof(part->v[0])));
    if (part->want_stats)
        part->stats = must(malloc((n + 1) * sizeof(part->stats[0])));
    for (size_t i = 0; i < n; i++) {
        name = live_source_name(src[i]);
        put_row(part, clients_stream(env->clients, src[i]), env->worker);
        wr_bytes(&names, name, strlen(name) + 1);
        (void)live_source_unref(src[i]);
        co_yield_if_due();
    }
    free(src);
    if (names.bad)
        part->n = 0;
    name = part->names = (char *)names.buf;
    for (size_t i = 0; i < part->n; i++) {
        part->v[i].name = name;
        name += strlen(name) + 1;
    }
}

static void drop(void *arg)
{
    struct collect_part *part = arg;

    if (part) {
        free(part->v);
        free(part->stats);
        free(part->names);
    }
    free(part);
}

/* ---- merging the rows of a stream */

static bool is_better(const struct collect_row *a, const struct collect_row *b)
{
    if (a->publishes != b->publishes)
        return a->publishes;
    if (a->named != b->named)
        return a->named;
    return a->at_home && !b->at_home;
}

static void absorb(struct collect_row *owner, struct collect_row *other)
{
    struct collect_more *m = &owner->more;

    m->clients += other->clients + other->more.clients;
    m->forwards += other->forwards + other->more.forwards;
    m->out_bytes += other->out_bytes + other->more.out_bytes;
    m->dropped += other->dropped + other->more.dropped;
    m->out_kbps += other->out_kbps + other->more.out_kbps;
    m->replicas += !other->file + other->more.replicas;
    other->merged = true;
}

/* Finds the slot of a row by name: that of the same stream, or an empty one. */
static struct collect_row **slot_of(struct collect_row **table, size_t size,
                                    const struct collect_row *row)
{
    size_t at = row->hash & (size - 1);

    while (table[at] && (table[at]->hash != row->hash || strcmp(table[at]->name, row->name) != 0))
        at = (at + 1) & (size - 1);
    return &table[at];
}

static void merge(struct collect *g, size_t all)
{
    size_t size = 64;
    struct collect_row **table;

    while (size < 2 * all)
        size *= 2;
    table = must(calloc(size, sizeof(table[0])));
    for (unsigned w = 0; w < g->n_parts; w++) {
        for (size_t i = 0; g->parts[w] && i < g->parts[w]->n; i++) {
            struct collect_row *row = &g->parts[w]->v[i], **at;

            row->hash = text_hash(row->name);
            at = slot_of(table, size, row);
            if (!*at) {
                *at = row;
            } else if (is_better(row, *at)) {
                absorb(row, *at);
                *at = row;
            } else {
                absorb(*at, row);
            }
            co_yield_if_due();
        }
    }
    free(table);
}

/* Lists the rows to show: not those without clients, such as a stream whose last forward ends. */
static void show(struct collect *g, bool files)
{
    for (unsigned w = 0; w < g->n_parts; w++) {
        for (size_t i = 0; g->parts[w] && i < g->parts[w]->n; i++) {
            struct collect_row *row = &g->parts[w]->v[i];

            if (row->file == files && !row->merged && row->named &&
                row->clients + row->more.clients > 0)
                g->shown[g->n++] = row;
        }
        co_yield_if_due();
    }
}

void collect_streams(struct collect *g, struct session_env *env, bool stats, co_usec patience)
{
    size_t all = 0;

    *g = (struct collect){ .n_parts = workers_count(env) };
    for (unsigned w = 0; w < g->n_parts; w++) {
        struct collect_part *part = must(calloc(1, sizeof(*part)));

        part->want_stats = stats;
        if (workers_ask(env, w, collect_part, part, drop, patience)) {
            g->parts[w] = part;
            all += part->n;
        }
    }
    if (g->n_parts > 1)
        merge(g, all);
    g->shown = must(calloc(all + 1, sizeof(struct collect_row *)));
    show(g, false);
    g->live = g->n;
    show(g, true);
}

void collect_free(struct collect *g)
{
    for (unsigned w = 0; w < g->n_parts; w++)
        drop(g->parts[w]);
    free(g->shown);
}

const struct collect_row *collect_next(const struct collect *g, const struct collect_row *row)
{
    unsigned w = row ? row->worker : 0;
    size_t i = row ? (size_t)(row - g->parts[w]->v) + 1 : 0;

    for (; w < g->n_parts; w++, i = 0) {
        for (; g->parts[w] && i < g->parts[w]->n; i++) {
            if (!g->parts[w]->v[i].merged)
                return &g->parts[w]->v[i];
        }
    }
    return NULL;
}
