/* SPDX-License-Identifier: MIT */
/* table.c - a hash table of chained buckets. */
#include "base/table.h"

#include "base/must.h"

#include <stdlib.h>

enum { FIRST = 64 };

/* Callers may pass plain numbers as hashes, so this mixes all bits (Fibonacci hashing). */
static struct table_link **place(const struct table *t, uint64_t hash)
{
    return &t->v[hash * UINT64_C(0x9e3779b97f4a7c15) >> 32 & t->mask];
}

static void link_in(struct table *t, struct table_link *l)
{
    struct table_link **at = place(t, l->hash);

    l->next = *at;
    *at = l;
}

static void grow(struct table *t)
{
    struct table old = *t;

    t->mask = old.v ? 2 * old.mask + 1 : FIRST - 1;
    t->v = must(calloc(t->mask + 1, sizeof(struct table_link *)));
    for (size_t i = 0; old.v && i <= old.mask; i++) {
        for (struct table_link *l = old.v[i], *next; l; l = next) {
            next = l->next;
            link_in(t, l);
        }
    }
    free(old.v);
}

void table_put(struct table *t, struct table_link *l, uint64_t hash)
{
    if (!t->v || t->n > t->mask)
        grow(t);
    l->hash = hash;
    link_in(t, l);
    t->n++;
}

bool table_remove(struct table *t, struct table_link *l)
{
    struct table_link **at = t->v ? place(t, l->hash) : NULL;

    while (at && *at && *at != l)
        at = &(*at)->next;
    if (!at || !*at)
        return false;
    *at = l->next;
    t->n--;
    return true;
}

struct table_link *table_find(const struct table *t, uint64_t hash, const struct table_link *after)
{
    struct table_link *l = after ? after->next : t->v ? *place(t, hash) : NULL;

    while (l && l->hash != hash)
        l = l->next;
    return l;
}

struct table_link *table_next(const struct table *t, const struct table_link *after)
{
    size_t i = after ? (size_t)(place(t, after->hash) - t->v) + 1 : 0;

    if (after && after->next)
        return after->next;
    while (t->v && i <= t->mask && !t->v[i])
        i++;
    return t->v && i <= t->mask ? t->v[i] : NULL;
}

void table_free(struct table *t)
{
    free(t->v);
    *t = (struct table){ 0 };
}
