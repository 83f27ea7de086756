/* SPDX-License-Identifier: MIT */
/* build.c - fills the structs of settings.h from file, environment and defaults. */
#include "conf/build.h"

#include "conf/warn.h"

#include <stdio.h>
#include <string.h>

enum { MAX_WARNED = 64 }; /* rows marked CONF_NOT_APPLIED, in all tables */

struct builder {
    const struct conf_ctx *ctx;
    const struct conf_row *warned[MAX_WARNED];
    size_t n_warned;
};

/* Block that is being built. */
struct place {
    const struct conf_node *node; /* the block in the file; NULL: not in the file */
    const char *path;             /* "vhost.play", "" for the root */
    bool no_env;
    bool *from_env;               /* set if a value in it comes from the environment */
};

/* ------------------------------------------------------------------ directives without effect */

/* Warns once per row, regardless of how often the file uses it. */
static void warn_inert(struct builder *b, const struct conf_row *row, const struct conf_node *node)
{
    char where[128];
    struct conf_ctx at = *b->ctx;

    for (size_t i = 0; i < b->n_warned; i++) {
        if (b->warned[i] == row)
            return;
    }
    if (b->n_warned < MAX_WARNED)
        b->warned[b->n_warned++] = row;
    if (node)
        (void)snprintf(where, sizeof(where), "%.100s:%d", node->file, node->line);
    else
        (void)snprintf(where, sizeof(where), "environment");
    at.where = where;
    if (row->kind == CONF_KIND_OBSOLETE)
        conf_warn(&at, "\"%s\" is obsolete and has no effect", row->name);
    else
        conf_warn(&at, "\"%s\" is accepted but not implemented: it has no effect yet", row->name);
}

/* Returns true if the block says `enabled off`. */
static bool is_off(const struct conf_block *block, const char *base)
{
    const struct conf_row *row = conf_table_find(block, "enabled", strlen("enabled"));

    return row && !*(const bool *)(base + row->offset);
}

/* ------------------------------------------------------------------ the environment */

/* Returns the value of a row from the environment, or NULL. Writes the variable's name to name. */
static const char *env_of(const struct builder *b, const struct conf_row *row,
                          const struct place *at, char *name, size_t size)
{
    char buf[128];
    const char *names = at->no_env ? "" : conf_row_env(row, at->path, buf, sizeof(buf));

    while (*names) {
        size_t n = strcspn(names, " ");
        const char *value;

        (void)snprintf(name, size, "%.*s", (int)n, names);
        value = conf_env(b->ctx->src, name);
        if (value)
            return value;
        names += n + strspn(names + n, " ");
    }
    return NULL;
}

/* Returns the first line of a block that has no effect without `enabled on`, or NULL. */
static const struct conf_node *inactive_line(const struct place *in)
{
    const struct conf_node *line = in->node ? in->node->first : NULL;

    if (strcmp(in->path, "vhost.ingest.engine") == 0) /* off means copy */
        return NULL;
    while (line && strcmp(in->path, "vhost.http_hooks") == 0 && strncmp(line->name, "on_", 3) != 0)
        line = line->next; /* the others also apply to the backend of forward */
    return line;
}

/* Warns if a block has directives but neither `enabled on` nor `enabled off`. */
static void warn_off(const struct builder *b, const struct conf_row *row, const struct place *in,
                     const char *base)
{
    const struct conf_row *on = conf_table_find(row->block, "enabled", strlen("enabled"));
    const struct conf_node *line = inactive_line(in);
    char text[256], env[128];

    if (!on || (row->flags & CONF_NOT_APPLIED) || !is_off(row->block, base) ||
        (in->node && conf_node_find(in->node, "enabled")) ||
        env_of(b, on, in, env, sizeof(env)) || (!line && !*in->from_env))
        return;
    if (line)
        (void)snprintf(text, sizeof(text), "%.60s has no effect: write \"enabled on;\" in the "
                       "block, or \"enabled off;\" to hide this warning", in->path);
    else
        (void)snprintf(text, sizeof(text), "%.60s is set by variables but has no effect: set "
                       "%.100s=on", in->path, conf_row_env(on, in->path, env, sizeof(env)));
    conf_warn_at(b->ctx, line ? in->node : NULL, text);
}

/* ------------------------------------------------------------------ leaves */

static size_t count(const struct conf_node *block, const char *name)
{
    size_t n = 0;

    for (const struct conf_node *c = block ? block->first : NULL; c; c = c->next)
        n += strcmp(c->name, name) == 0;
    return n;
}

/* Lines that count: all of a repeatable directive, otherwise the first. */
static size_t lines_of(const struct builder *b, const struct conf_row *row,
                       const struct conf_node *block, struct conf_list **lines)
{
    size_t n = count(block, row->name), i = 0;

    if (n > 1 && !conf_row_repeats(row))
        n = 1;
    *lines = conf_arena_get(b->ctx->arena, n * sizeof(**lines));
    for (const struct conf_node *c = n ? block->first : NULL; c && i < n; c = c->next) {
        if (strcmp(c->name, row->name) == 0)
            (*lines)[i++] = c->args;
    }
    return n;
}

static void set_pairs(const struct builder *b, const struct conf_node *node, void *field)
{
    struct conf_arena *a = b->ctx->arena;
    struct conf_pair *v;
    size_t n = 0;

    for (const struct conf_node *c = node->first; c; c = c->next)
        n++;
    v = conf_arena_get(a, n * sizeof(*v));
    n = 0;
    for (const struct conf_node *c = node->first; c; c = c->next, n++) {
        v[n].name = conf_arena_dup(a, c->name);
        v[n].value = "";
        for (size_t i = 0; i < c->args.n; i++)
            v[n].value = conf_arena_printf(a, "%s%s%s", v[n].value, i ? " " : "", c->args.v[i]);
    }
    conf_array_set(field, v, n);
}

static err_t leaf(struct builder *b, const struct conf_row *row, const struct place *at, char *base)
{
    const struct conf_node *node = at->node ? conf_node_find(at->node, row->name) : NULL;
    void *field = base + row->offset;
    struct conf_ctx ctx = *b->ctx;
    struct conf_list words, *lines;
    char where[128] = "";
    const char *env = env_of(b, row, at, where, sizeof(where));
    size_t n;
    err_t err;

    ctx.where = where;
    if (env || node) {
        *at->from_env |= env != NULL;
        if ((row->flags & CONF_NOT_APPLIED) && !(env && (row->flags & CONF_QUIET)))
            warn_inert(b, row, env ? NULL : node);
    }
    if (env) {
        words = conf_split(ctx.arena, env);
        err = conf_value_set(&ctx, row, &words, 1, field);
        return err ? err_wrap(err, "environment %s", where) : NULL;
    }
    if (!node)
        return conf_value_default(&ctx, row, field);
    (void)snprintf(where, sizeof(where), "%.100s:%d", node->file, node->line);
    if (row->kind == CONF_KIND_PAIRS) {
        set_pairs(b, node, field);
        return NULL;
    }
    n = lines_of(b, row, at->node, &lines);
    err = conf_value_set(&ctx, row, lines, n, field);
    return err ? conf_node_err(node, err) : NULL;
}

/* ------------------------------------------------------------------ blocks */

static err_t fill(struct builder *b, const struct conf_block *block, const struct place *at,
                  char *base);

static struct place inside(const struct builder *b, const struct place *at,
                           const struct conf_row *row, const struct conf_node *node, bool *env)
{
    return (struct place){
        .node = node,
        .path = conf_arena_printf(b->ctx->arena, "%s%s%s", at->path, *at->path ? "." : "",
                                  row->name),
        .no_env = at->no_env || (row->flags & CONF_NO_ENV),
        .from_env = env,
    };
}

static err_t one_block(struct builder *b, const struct conf_row *row, const struct place *at,
                       char *base)
{
    const struct conf_node *node = at->node ? conf_node_find(at->node, row->name) : NULL;
    bool env = false;
    const struct place in = inside(b, at, row, node, &env);
    err_t err = fill(b, row->block, &in, base + row->offset);

    if (!err && (row->flags & CONF_NOT_APPLIED) && (node || env) &&
        !is_off(row->block, base + row->offset))
        warn_inert(b, row, env ? NULL : node);
    if (!err)
        warn_off(b, row, &in, base + row->offset);
    *at->from_env |= env;
    return err;
}

/* Structs of repeatable blocks begin with the name of the block. */
static void set_name(const struct builder *b, const struct conf_node *node, char *item)
{
    const char *name = conf_arena_dup(b->ctx->arena, node->args.n ? node->args.v[0] : "");

    memcpy(item, &name, sizeof(name));
}

static err_t many_blocks(struct builder *b, const struct conf_row *row, const struct place *at,
                         char *base)
{
    size_t n = count(at->node, row->name), i = 0;
    char *v = conf_arena_get(b->ctx->arena, n * row->block->size);
    err_t err = NULL;

    for (const struct conf_node *c = n ? at->node->first : NULL; c && !err; c = c->next) {
        bool env = false;
        struct place in;
        char *item = v + i * row->block->size;

        if (strcmp(c->name, row->name) != 0)
            continue;
        set_name(b, c, item);
        in = inside(b, at, row, c, &env);
        err = fill(b, row->block, &in, item);
        if (!err && (row->flags & CONF_NOT_APPLIED) && !is_off(row->block, item))
            warn_inert(b, row, c);
        if (!err)
            warn_off(b, row, &in, item);
        i++;
    }
    conf_array_set(base + row->offset, v, n);
    return err;
}

static err_t fill(struct builder *b, const struct conf_block *block, const struct place *at,
                  char *base)
{
    err_t err = NULL;

    for (size_t i = 0; !err && i < block->n; i++) {
        const struct conf_row *row = &block->rows[i];
        const struct conf_node *node = at->node ? conf_node_find(at->node, row->name) : NULL;

        if (row->kind == CONF_KIND_BLOCK)
            err = one_block(b, row, at, base);
        else if (row->kind == CONF_KIND_BLOCKS)
            err = many_blocks(b, row, at, base);
        else if (row->kind != CONF_KIND_OBSOLETE)
            err = leaf(b, row, at, base);
        else if (node && !(row->flags & CONF_QUIET))
            warn_inert(b, row, node);
    }
    return err;
}

err_t conf_build(struct conf *c, const struct conf_node *root, const struct conf_ctx *ctx)
{
    struct builder b = { .ctx = ctx };
    bool env = false;
    const struct place at = { .node = root, .path = "", .from_env = &env };

    return fill(&b, &conf_table_root, &at, (char *)c);
}
