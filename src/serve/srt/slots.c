/* SPDX-License-Identifier: MIT */
/* slots.c - connections of a worker by the id that we gave them. */
#include "serve/srt/slots.h"

#include "base/must.h"

#include <stdlib.h>
#include <sys/random.h>

/* libsrt keeps bit 30 for groups, and takes ids for signed numbers. */
enum { ID_BITS = 30, NONE = -1, FIRST_SLOTS = 64 };

void srt_slots_init(struct srt_slots *s, unsigned worker, unsigned workers)
{
    *s = (struct srt_slots){ .worker = worker, .workers = workers, .first = (uint32_t)NONE,
                             .last = (uint32_t)NONE };
}

void srt_slots_fini(struct srt_slots *s)
{
    free(s->v);
}

/* Generations that fit. */
static uint32_t generations(const struct srt_slots *s)
{
    return ((1u << ID_BITS) / s->workers) >> SRT_SLOT_BITS;
}

static void free_one(struct srt_slots *s, uint32_t i)
{
    s->v[i].what = NULL;
    s->v[i].next = (uint32_t)NONE;
    if (s->first == (uint32_t)NONE)
        s->first = i;
    else
        s->v[s->last].next = i;
    s->last = i;
}

/* Where they begin is nobody's to know. */
static void grow(struct srt_slots *s)
{
    uint32_t n = s->n ? s->n * 2 : FIRST_SLOTS, seed = 0;

    if (s->n == SRT_SLOTS_MAX)
        return;
    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
        seed = (uint32_t)(uintptr_t)s;
    s->v = must(realloc(s->v, n * sizeof(*s->v)));
    for (uint32_t i = s->n; i < n; i++) {
        s->v[i].generation = (seed + i * 7) % generations(s);
        free_one(s, i);
    }
    s->n = n;
}

static uint32_t id_of(const struct srt_slots *s, uint32_t i)
{
    return (s->v[i].generation << SRT_SLOT_BITS | i) * s->workers + s->worker;
}

uint32_t srt_slots_take(struct srt_slots *s, void *what)
{
    uint32_t i;

    if (s->first == (uint32_t)NONE)
        grow(s);
    i = s->first;
    if (i == (uint32_t)NONE)
        return 0;
    s->first = s->v[i].next;
    s->v[i].generation = (s->v[i].generation + 1) % generations(s);
    if (id_of(s, i) == 0)
        s->v[i].generation++;
    s->v[i].what = what;
    s->used++;
    return id_of(s, i);
}

static uint32_t index_of(const struct srt_slots *s, uint32_t id)
{
    uint32_t i = (id / s->workers) & (SRT_SLOTS_MAX - 1);

    return i < s->n && s->v[i].what && id_of(s, i) == id ? i : (uint32_t)NONE;
}

void srt_slots_give(struct srt_slots *s, uint32_t id)
{
    uint32_t i = index_of(s, id);

    if (i == (uint32_t)NONE)
        return;
    s->used--;
    free_one(s, i);
}

void *srt_slots_find(const struct srt_slots *s, uint32_t id)
{
    uint32_t i = index_of(s, id);

    return i == (uint32_t)NONE ? NULL : s->v[i].what;
}

void *srt_slots_next(const struct srt_slots *s, uint32_t *at)
{
    while (*at < s->n) {
        void *what = s->v[(*at)++].what;

        if (what)
            return what;
    }
    return NULL;
}
