/* SPDX-License-Identifier: MIT */
/* names.c - checks that every name in a tree of directives is known in its block. */
#include "conf/build.h"
#include "conf/foreign.h"

#include <stdio.h>
#include <string.h>

/* Block that is being checked. The depth of recursion is bounded by the tables, not by the file. */
struct place {
    const struct conf_block *block;
    const char *path; /* "vhost.play", "" for the root */
};

static err_t unknown(const struct conf_node *node, const struct place *in)
{
    char buf[128];
    const char *other = conf_table_elsewhere(node->name, buf, sizeof(buf));
    const char *before = *in->path ? " in " : "";

    if (other)
        return err_new(ERR_CONF, "unknown directive \"%.30s\"%s%.30s; it belongs in %.40s",
                       node->name, before, in->path, other);
    if (*conf_table_nearest(in->block, node->name, buf, sizeof(buf)))
        return err_new(ERR_CONF, "unknown directive \"%.30s\"%s%.30s; did you mean \"%.36s\"?",
                       node->name, before, in->path, buf);
    return err_new(ERR_CONF, "unknown directive \"%.30s\"%s%.30s; all directives: conf/full.conf",
                   node->name, before, in->path);
}

static void warn(const struct conf_node *node, const struct conf_ctx *ctx, const char *before,
                 const char *behind)
{
    char where[128];
    struct conf_ctx at = *ctx;

    (void)snprintf(where, sizeof(where), "%.100s:%d", node->file, node->line);
    at.where = where;
    conf_warn(&at, "%s \"%s\"%s", before, node->name, behind);
}

/* Checks that a node has the form that its row requires. */
static err_t check_form(const struct conf_node *node, const struct conf_row *row, bool again,
                   const struct conf_ctx *ctx)
{
    if (row->kind == CONF_KIND_OBSOLETE)
        return NULL;
    if (node->block && !conf_row_is_block(row))
        return err_new(ERR_CONF, "\"%s\" is not a block: it takes words and ;", row->name);
    if (!node->block && conf_row_is_block(row) && node->args.n && row->kind != CONF_KIND_BLOCKS)
        return err_new(ERR_CONF, "\"%s\" is a block: it takes { }", row->name);
    if ((row->flags & CONF_NAMED) && (node->args.n == 0 || !node->args.v[0][0]))
        return err_new(ERR_CONF, "\"%s\" needs a name", row->name);
    if (again && (row->flags & CONF_ONCE))
        return err_new(ERR_CONF, "duplicate \"%s\" in the block", row->name);
    if (again && !conf_row_repeats(row))
        warn(node, ctx, "duplicate", " in the block is ignored");
    return NULL;
}

static err_t check_block(const struct conf_node *block, const struct place *in,
                         const struct conf_ctx *ctx);

static err_t check_node(const struct conf_node *block, const struct conf_node *node,
                        const struct place *in, const struct conf_ctx *ctx)
{
    const struct conf_row *row = conf_table_find(in->block, node->name, strlen(node->name));
    struct place inner;
    err_t err;

    err = row ? check_form(node, row, conf_node_find(block, node->name) != node, ctx)
              : unknown(node, in);
    if (err)
        return conf_node_err(node, err);
    if (node->unended)
        warn(node, ctx, "missing ; after", ": it ends with its line");
    if (!row->block)
        return NULL;
    inner.block = row->block;
    inner.path = conf_arena_printf(ctx->arena, "%s%s%s", in->path, *in->path ? "." : "",
                                   row->name);
    return check_block(node, &inner, ctx);
}

static err_t check_block(const struct conf_node *block, const struct place *in,
                         const struct conf_ctx *ctx)
{
    for (const struct conf_node *n = block->first; n; n = n->next) {
        err_t err = check_node(block, n, in, ctx);

        if (err)
            return err;
    }
    return NULL;
}

err_t conf_build_names(const struct conf_node *root, const struct conf_ctx *ctx)
{
    const struct place in = { .block = &conf_table_root, .path = "" };
    err_t err = check_block(root, &in, ctx);

    return err ? conf_foreign(root, err) : NULL;
}
