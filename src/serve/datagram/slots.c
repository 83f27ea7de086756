/* SPDX-License-Identifier: MIT */
/* slots.c - clients of a worker by the id that the server assigned. */
#include "serve/datagram/slots.h"

#include "base/must.h"

#include <stdlib.h>
#include <sys/random.h>

enum { NONE = -1, FIRST_SLOTS = 64 };

void datagram_slots_init(struct datagram_slots *s, unsigned worker, unsigned workers,
                         unsigned bits)
{
    *s = (struct datagram_slots){ .worker = worker, .workers = workers, .bits = bits,
                                  .first = (uint32_t)NONE, .last = (uint32_t)NONE };
}

void datagram_slots_fini(struct datagram_slots *s)
{
    free(s->v);
}

/* Returns the number of generations that fit into an id. */
static uint32_t generations(const struct datagram_slots *s)
{
    return (uint32_t)(((UINT64_C(1) << s->bits) / s->workers) >> DATAGRAM_SLOT_BITS);
}

static void free_one(struct datagram_slots *s, uint32_t i)
{
    s->v[i].what = NULL;
    s->v[i].next = (uint32_t)NONE;
    if (s->first == (uint32_t)NONE)
        s->first = i;
    else
        s->v[s->last].next = i;
    s->last = i;
}

/* Starts generations at random values, so that ids cannot be guessed. */
static void grow(struct datagram_slots *s)
{
    uint32_t n = s->n ? s->n * 2 : FIRST_SLOTS, seed = 0;

    if (s->n == DATAGRAM_SLOTS_MAX)
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

static uint32_t id_of(const struct datagram_slots *s, uint32_t i)
{
    return (s->v[i].generation << DATAGRAM_SLOT_BITS | i) * s->workers + s->worker;
}

uint32_t datagram_slots_take(struct datagram_slots *s, void *what)
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

static uint32_t index_of(const struct datagram_slots *s, uint32_t id)
{
    uint32_t i = (id / s->workers) & (DATAGRAM_SLOTS_MAX - 1);

    return i < s->n && s->v[i].what && id_of(s, i) == id ? i : (uint32_t)NONE;
}

void datagram_slots_give(struct datagram_slots *s, uint32_t id)
{
    uint32_t i = index_of(s, id);

    if (i == (uint32_t)NONE)
        return;
    s->used--;
    free_one(s, i);
}

void *datagram_slots_find(const struct datagram_slots *s, uint32_t id)
{
    uint32_t i = index_of(s, id);

    return i == (uint32_t)NONE ? NULL : s->v[i].what;
}

void *datagram_slots_next(const struct datagram_slots *s, uint32_t *at)
{
    while (*at < s->n) {
        void *what = s->v[(*at)++].what;

        if (what)
            return what;
    }
    return NULL;
}
