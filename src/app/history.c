/* SPDX-License-Identifier: MIT */
/* history.c - samples of the last hour, of the server and of its streams. */
#include "app/history.h"

#include "app/api/collect.h"
#include "base/must.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEP CO_MS(HISTORY_MS)
#define PATIENCE CO_MS(500) /* with each worker */

/* Times are counted in steps; a sample is at index step modulo HISTORY_SAMPLES. */
struct stream {
    char *name;
    uint32_t hash;
    uint64_t seen; /* the last step at which it was live */
    uint32_t v[HISTORY_SAMPLES][HISTORY_STREAM_VALUES];
};

struct history {
    const struct api_parts *of;
    uint64_t first, newest;    /* steps; 0: no sample yet */
    int64_t newest_at;         /* ms since 1970 */
    uint32_t v[HISTORY_SAMPLES][HISTORY_TOTALS];
    struct stream *streams[HISTORY_STREAMS];
    size_t n;
    uint64_t in, out;          /* total bytes at the previous sample */
    int64_t cpu;
    co_usec at;
};

struct history *history_new(void)
{
    return (struct history *)must(calloc(1, sizeof(struct history)));
}

void history_begin(struct history *h, const struct api_parts *of)
{
    h->of = of;
}

static void stream_free(struct stream *s)
{
    free(s->name);
    free(s);
}

void history_free(struct history *h)
{
    for (size_t i = 0; h && i < h->n; i++)
        stream_free(h->streams[i]);
    free(h);
}

/* ---- a sample of the server */

static uint32_t kbps(uint64_t now, uint64_t before, co_usec lasts)
{
    uint64_t bytes = now > before ? now - before : 0;

    return (uint32_t)(bytes * 8000 / (uint64_t)lasts);
}

/* Without streams it does not query the other workers, so that they can sleep. */
static void take_counters(struct history *h, struct worker_counters *f)
{
    struct worker_counters_of of = api_counters_of(h->of);

    worker_counters_sum(&of, f);
    if (f->streams == 0)
        return;
    worker_counters_refresh(&of);
    worker_counters_sum(&of, f);
}

static void put_totals(struct history *h, uint32_t *v, const struct worker_counters *f)
{
    int64_t cpu = clock_us(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t in = 0, out = 0, clients = 0;
    co_usec now = co_clock(), lasts = now - h->at;

    for (int i = 0; i < CLIENTS_TYPES; i++) {
        if (i == CLIENTS_FORWARD)
            continue;
        in += f->types[i].in;
        out += f->types[i].out;
        clients += f->types[i].now;
    }
    v[HISTORY_RECV] = kbps(in, h->in, lasts);
    v[HISTORY_SEND] = kbps(out, h->out, lasts);
    v[HISTORY_CLIENTS] = (uint32_t)clients;
    v[HISTORY_PUBLISHERS] = (uint32_t)f->publishers;
    v[HISTORY_PLAYERS] = (uint32_t)f->players;
    v[HISTORY_CPU] = (uint32_t)((cpu - h->cpu) * 1000 / lasts);
    v[HISTORY_MEMORY] = (uint32_t)h->of->machine->rss_kbyte;
    h->in = in;
    h->out = out;
    h->cpu = cpu;
    h->at = now;
}

/* ---- samples of streams */

static void clear(uint32_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i] = HISTORY_NONE;
}

static struct stream *find(struct history *h, const char *name, uint32_t hash)
{
    for (size_t i = 0; i < h->n; i++) {
        if (h->streams[i]->hash == hash && strcmp(h->streams[i]->name, name) == 0)
            return h->streams[i];
    }
    return NULL;
}

/* A new stream replaces the one that ended first. Returns NULL if all are still live. */
static struct stream *add(struct history *h, const char *name, uint32_t hash, uint64_t step)
{
    size_t at = 0;
    struct stream *s;

    for (size_t i = 0; h->n == HISTORY_STREAMS && i < h->n; i++)
        at = h->streams[i]->seen < h->streams[at]->seen ? i : at;
    if (h->n < HISTORY_STREAMS)
        at = h->n++;
    else if (h->streams[at]->seen + 1 >= step)
        return NULL;
    else
        stream_free(h->streams[at]);
    h->streams[at] = s = must(calloc(1, sizeof(*s)));
    s->name = must_dup(name);
    s->hash = hash;
    for (size_t i = 0; i < HISTORY_SAMPLES; i++)
        clear(s->v[i], HISTORY_STREAM_VALUES);
    return s;
}

static void put_stream(struct history *h, const struct collect_row *row, uint64_t step)
{
    uint32_t hash = text_hash(row->name), *v;
    struct stream *s = find(h, row->name, hash);

    if (!s)
        s = add(h, row->name, hash, step);
    if (!s)
        return;
    s->seen = step;
    v = s->v[step % HISTORY_SAMPLES];
    v[HISTORY_STREAM_RECV] = (uint32_t)(row->in_kbps > 0 ? row->in_kbps : 0);
    v[HISTORY_STREAM_SEND] = (uint32_t)(row->out_kbps + row->more.out_kbps);
    v[HISTORY_STREAM_CLIENTS] = row->clients + row->more.clients;
}

/* Removes streams that ended more than an hour ago. */
static void forget(struct history *h, uint64_t step)
{
    size_t n = 0;

    for (size_t i = 0; i < h->n; i++) {
        if (h->streams[i]->seen + HISTORY_SAMPLES > step)
            h->streams[n++] = h->streams[i];
        else
            stream_free(h->streams[i]);
    }
    h->n = n;
}

static uint32_t put_streams(struct history *h, uint64_t step)
{
    struct collect g;
    size_t live;

    collect_streams(&g, h->of->env, false, PATIENCE);
    live = g.live;
    for (size_t i = 0; i < live; i++) {
        put_stream(h, g.shown[i], step);
        co_yield_if_due();
    }
    collect_free(&g);
    return (uint32_t)live;
}

/* ---- the loop */

/* Clears the samples up to this step: skipped steps have none. */
static void make_room(struct history *h, uint64_t step)
{
    uint64_t from = h->newest + 1;

    if (h->newest == 0)
        from = h->first = step;
    if (from + HISTORY_SAMPLES < step)
        from = step - HISTORY_SAMPLES + 1;
    for (; from <= step; from++) {
        size_t at = from % HISTORY_SAMPLES;

        clear(h->v[at], HISTORY_TOTALS);
        for (size_t i = 0; i < h->n; i++)
            clear(h->streams[i]->v[at], HISTORY_STREAM_VALUES);
    }
}

static void sample(struct history *h)
{
    struct worker_counters *f = must(malloc(sizeof(*f)));
    uint64_t step;
    uint32_t v[HISTORY_TOTALS];

    take_counters(h, f);
    step = (uint64_t)(co_clock() / STEP) + 1;
    if (step != h->newest) {
        put_totals(h, v, f);
        make_room(h, step);
        forget(h, step);
        v[HISTORY_LIVE] = f->streams > 0 ? put_streams(h, step) : 0;
        memcpy(h->v[step % HISTORY_SAMPLES], v, sizeof(v));
        h->newest = step;
        h->newest_at = co_wall_ms();
    }
    free(f);
}

err_t history_run(void *history)
{
    struct history *h = history;
    err_t err = NULL;

    h->at = co_clock() - STEP;
    while (!err) {
        sample(h);
        err = co_sleep(STEP - co_clock() % STEP + CO_MS(1));
    }
    return err;
}

/* ---- queries */

unsigned history_count(const struct history *h, int64_t *at)
{
    uint64_t n = h->newest ? h->newest - h->first + 1 : 0;

    *at = h->newest_at;
    return n < HISTORY_SAMPLES ? (unsigned)n : HISTORY_SAMPLES;
}

const char *history_stream_name(const struct history *h, size_t i)
{
    return i < h->n ? h->streams[i]->name : NULL;
}

uint32_t history_value(const struct history *h, int stream, int what, unsigned ago)
{
    uint64_t at = (h->newest - ago) % HISTORY_SAMPLES;

    return stream < 0 ? h->v[at][what] : h->streams[stream]->v[at][what];
}
