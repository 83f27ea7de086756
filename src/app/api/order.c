/* SPDX-License-Identifier: MIT */
/* order.c - sorting and searching of lists: sort=KEY (sort=-KEY: descending) and find=TEXT. */
#include "app/api/order.h"

#include "base/must.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_FIRST = 64 };

void order_begin(struct order *o, const struct api_call *c, const char *const keys[], size_t n_keys,
                 size_t most)
{
    char text[32];
    const char *name = api_param(c, "sort", text, sizeof(text));

    *o = (struct order){ .by = -1, .down = name && *name == '-', .most = most };
    for (size_t i = 0; name && i < n_keys; i++) {
        if (strcmp(name + o->down, keys[i]) == 0)
            o->by = (int)i;
    }
    if (!api_param(c, "find", o->find, sizeof(o->find)))
        o->find[0] = '\0';
}

bool order_finds(const struct order *o, const char *const texts[], size_t n)
{
    if (!o->find[0])
        return true;
    for (size_t i = 0; i < n; i++) {
        if (strcasestr(texts[i], o->find))
            return true;
    }
    return false;
}

/* Returns < 0 if a comes first. */
static int compare(const struct order *o, const struct order_row *a, const struct order_row *b)
{
    int by = a->group != b->group ? (a->group < b->group ? -1 : 1) : 0;

    if (!by && a->key != b->key)
        by = (a->key < b->key) != o->down ? -1 : 1;
    if (!by && a->text && b->text)
        by = strcmp(a->text, b->text) * (o->down && o->by_text ? -1 : 1);
    if (!by && a->id != b->id)
        by = a->id < b->id ? -1 : 1;
    return by;
}

/* The heap has the last row at its top. */
static void sift_down(struct order *o, size_t n)
{
    struct order_row row = o->v[0];
    size_t at = 0, next;

    while ((next = 2 * at + 1) < n) {
        if (next + 1 < n && compare(o, &o->v[next], &o->v[next + 1]) < 0)
            next++;
        if (compare(o, &row, &o->v[next]) >= 0)
            break;
        o->v[at] = o->v[next];
        at = next;
    }
    o->v[at] = row;
}

static void sift_up(struct order *o, size_t at)
{
    struct order_row row = o->v[at];

    while (at > 0 && compare(o, &o->v[(at - 1) / 2], &row) < 0) {
        o->v[at] = o->v[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    o->v[at] = row;
}

/* The array grows at powers of two: returns true if it must grow. */
static bool is_full(size_t n)
{
    return n >= ROWS_FIRST && (n & (n - 1)) == 0;
}

void order_add(struct order *o, const struct order_row *row)
{
    if (o->n >= o->most) {
        if (o->n > 0 && compare(o, row, &o->v[0]) < 0) {
            o->v[0] = *row;
            sift_down(o, o->n);
        }
        return;
    }
    if (!o->v)
        o->v = must(malloc(ROWS_FIRST * sizeof(o->v[0])));
    else if (is_full(o->n))
        o->v = must(realloc(o->v, 2 * o->n * sizeof(o->v[0])));
    o->v[o->n] = *row;
    sift_up(o, o->n++);
}

void order_end(struct order *o)
{
    for (size_t n = o->n; n > 1; n--) {
        struct order_row last = o->v[0];

        o->v[0] = o->v[n - 1];
        sift_down(o, n - 1);
        o->v[n - 1] = last;
        co_yield_if_due();
    }
}

void order_free(struct order *o)
{
    free(o->v);
    o->v = NULL;
    o->n = 0;
}
