/* SPDX-License-Identifier: MIT */
/* arena.c - memory allocated in pieces and freed all at once. */
#include "conf/arena.h"

#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_SIZE = 16 * 1024, ALIGN = 16 };

struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(ALIGN) unsigned char bytes[];
};

struct conf_arena {
    struct chunk *head; /* chunk with free space */
};

struct conf_arena *conf_arena_new(void)
{
    return must(calloc(1, sizeof(struct conf_arena)));
}

void conf_arena_free(struct conf_arena *a)
{
    while (a && a->head) {
        struct chunk *c = a->head;

        a->head = c->next;
        free(c);
    }
    free(a);
}

void *conf_arena_get(struct conf_arena *a, size_t size)
{
    size_t need = (size + ALIGN - 1) / ALIGN * ALIGN;
    struct chunk *c = a->head;
    void *p;

    if (!c || need > c->size - c->used) {
        size_t room = need > CHUNK_SIZE ? need : CHUNK_SIZE;

        c = must(calloc(1, sizeof(*c) + room));
        c->size = room;
        c->next = a->head;
        a->head = c;
    }
    p = c->bytes + c->used;
    c->used += need;
    return p;
}

char *conf_arena_str(struct conf_arena *a, const char *s, size_t n)
{
    char *to = conf_arena_get(a, n + 1);

    memcpy(to, s, n);
    return to;
}

char *conf_arena_dup(struct conf_arena *a, const char *s)
{
    return conf_arena_str(a, s, strlen(s));
}

char *conf_arena_printf(struct conf_arena *a, const char *fmt, ...)
{
    char none[1];
    va_list ap;
    char *to;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(none, sizeof(none), fmt, ap);
    va_end(ap);
    to = conf_arena_get(a, (size_t)n + 1);
    va_start(ap, fmt);
    (void)vsnprintf(to, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return to;
}

struct conf_list conf_arena_list(struct conf_arena *a, const struct conf_list *list)
{
    const char **v = conf_arena_get(a, list->n * sizeof(*v));

    for (size_t i = 0; i < list->n; i++)
        v[i] = conf_arena_dup(a, list->v[i]);
    return (struct conf_list){ .v = v, .n = list->n };
}
