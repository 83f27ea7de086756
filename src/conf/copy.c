/* SPDX-License-Identifier: MIT */
/* copy.c - deep copies of typed values. */
#include "conf/value.h"

#include <string.h>

static void copy_string(struct conf_arena *a, void *to, const void *from)
{
    const char *s;

    memcpy(&s, from, sizeof(s));
    s = conf_arena_dup(a, s);
    memcpy(to, &s, sizeof(s));
}

static void copy_endpoints(struct conf_arena *a, void *to, const struct conf_endpoints *from)
{
    struct conf_endpoint *v = conf_arena_get(a, from->n * sizeof(*v));

    for (size_t i = 0; i < from->n; i++) {
        v[i] = from->v[i];
        v[i].text = conf_arena_dup(a, from->v[i].text);
        v[i].host = conf_arena_dup(a, from->v[i].host);
        if (v[i].url)
            v[i].url = conf_arena_dup(a, from->v[i].url);
    }
    conf_array_set(to, v, from->n);
}

static void copy_networks(struct conf_arena *a, void *to, const struct conf_networks *from)
{
    struct conf_network *v = conf_arena_get(a, from->n * sizeof(*v));

    for (size_t i = 0; i < from->n; i++) {
        v[i] = from->v[i];
        v[i].text = conf_arena_dup(a, from->v[i].text);
    }
    conf_array_set(to, v, from->n);
}

static void copy_rules(struct conf_arena *a, void *to, const struct conf_rules *from)
{
    struct conf_rule *v = conf_arena_get(a, from->n * sizeof(*v));

    for (size_t i = 0; i < from->n; i++) {
        v[i] = from->v[i];
        v[i].text = conf_arena_dup(a, from->v[i].text);
    }
    conf_array_set(to, v, from->n);
}

static void copy_commands(struct conf_arena *a, void *to, const struct conf_commands *from)
{
    struct conf_list *v = conf_arena_get(a, from->n * sizeof(*v));

    for (size_t i = 0; i < from->n; i++)
        v[i] = conf_arena_list(a, &from->v[i]);
    conf_array_set(to, v, from->n);
}

static void copy_pairs(struct conf_arena *a, void *to, const struct conf_pairs *from)
{
    struct conf_pair *v = conf_arena_get(a, from->n * sizeof(*v));

    for (size_t i = 0; i < from->n; i++) {
        v[i].name = conf_arena_dup(a, from->v[i].name);
        v[i].value = conf_arena_dup(a, from->v[i].value);
    }
    conf_array_set(to, v, from->n);
}

static void copy_block(struct conf_arena *a, const struct conf_block *b, char *to,
                       const char *from)
{
    for (size_t i = 0; i < b->n; i++) {
        if (b->rows[i].kind != CONF_KIND_OBSOLETE)
            conf_value_copy(a, &b->rows[i], to + b->rows[i].offset, from + b->rows[i].offset);
    }
}

/* Structs of BLOCKS begin with their name, which has no row. */
static void copy_blocks(struct conf_arena *a, const struct conf_block *b, void *to,
                        const void *from)
{
    struct conf_array old = conf_array_get(from);
    char *v = conf_arena_get(a, old.n * b->size);

    for (size_t i = 0; i < old.n; i++) {
        const char *item = (const char *)old.v + i * b->size;

        memcpy(v + i * b->size, item, b->size); /* fields without a row */
        copy_string(a, v + i * b->size, item);
        copy_block(a, b, v + i * b->size, item);
    }
    conf_array_set(to, v, old.n);
}

void conf_value_copy(struct conf_arena *a, const struct conf_row *row, void *to, const void *from)
{
    switch (row->kind) {
    case CONF_KIND_STRING:    copy_string(a, to, from); break;
    case CONF_KIND_LIST:
    case CONF_KIND_CANDIDATE: *(struct conf_list *)to = conf_arena_list(a, from); break;
    case CONF_KIND_LISTEN:
    case CONF_KIND_HOSTS:     copy_endpoints(a, to, from); break;
    case CONF_KIND_NETWORKS:  copy_networks(a, to, from); break;
    case CONF_KIND_RULES:     copy_rules(a, to, from); break;
    case CONF_KIND_COMMANDS:  copy_commands(a, to, from); break;
    case CONF_KIND_PAIRS:     copy_pairs(a, to, from); break;
    case CONF_KIND_BLOCK:     copy_block(a, row->block, to, from); break;
    case CONF_KIND_BLOCKS:    copy_blocks(a, row->block, to, from); break;
    default:                  memcpy(to, from, row->size); break;
    }
}
