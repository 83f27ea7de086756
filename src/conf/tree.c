/* SPDX-License-Identifier: MIT */
/* tree.c - parses configuration files into a tree of directives. */
#include "conf/tree.h"

#include "base/must.h"
#include "conf/foreign.h"
#include "conf/legacy.h"
#include "conf/lexer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    ARGS = 256,      /* maximum words of a directive */
    PATH_SHOWN = 112, /* maximum characters of a path in an error */
};

/* Configuration for `-e`; the environment adds the rest. */
static const char env_only[] = "daemon off; srs_log_tank console; vhost __defaultVhost__ { }";

struct reader {
    struct conf_arena *arena;
    const struct conf_source *src;
    size_t bytes, files;
    int includes; /* depth of open includes */
};

/* A file that is being read. */
struct file {
    const char *name;
    struct conf_lexer lx;
    struct conf_node *open[CONF_TREE_BLOCKS]; /* open blocks; open[0] is the block of the include */
    int depth;
    const char *words[ARGS]; /* words of the current directive */
    size_t n;
    int line;                /* its first line */
};

struct conf_node *conf_node_new(struct conf_arena *a, const char *name,
                                const struct conf_node *where)
{
    struct conf_node *node = conf_arena_get(a, sizeof(*node));

    node->name = name;
    if (where) {
        node->file = where->file;
        node->line = where->line;
    }
    return node;
}

void conf_node_append(struct conf_node *block, struct conf_node *child)
{
    child->next = NULL;
    if (block->last)
        block->last->next = child;
    else
        block->first = child;
    block->last = child;
}

void conf_node_remove(struct conf_node *block, struct conf_node *child)
{
    struct conf_node **at = &block->first, *before = NULL;

    while (*at != child) {
        before = *at;
        at = &before->next;
    }
    *at = child->next;
    if (block->last == child)
        block->last = before;
    child->next = NULL;
}

struct conf_node *conf_node_find(const struct conf_node *block, const char *name)
{
    struct conf_node *n = block->first;

    while (n && strcmp(n->name, name) != 0)
        n = n->next;
    return n;
}

/* Returns the end of a path that fits into an error message. */
static const char *end_of(const char *path)
{
    size_t size = strlen(path);

    return size > PATH_SHOWN ? path + size - PATH_SHOWN : path;
}

err_t conf_node_err(const struct conf_node *node, err_t err)
{
    return err_wrap(err, "%s:%d", end_of(node->file), node->line);
}

static err_t read_file(struct reader *r, struct conf_node *into, const char *path);

/* Adds a directive with the words read so far to the open block. */
static struct conf_node *finish(struct reader *r, struct file *f, bool block)
{
    struct conf_node *node = conf_node_new(r->arena, f->words[0], NULL);
    const struct conf_list args = { .v = f->words + 1, .n = f->n - 1 };

    node->args = conf_arena_list(r->arena, &args);
    node->block = block;
    node->file = f->name;
    node->line = f->line;
    f->n = 0;
    return node;
}

static err_t include(struct reader *r, struct file *f)
{
    size_t n = f->n;

    f->n = 0;
    if (n < 2)
        return err_new(ERR_CONF_SYNTAX, "include without a file");
    for (size_t i = 1; i < n; i++) {
        err_t err = read_file(r, f->open[f->depth], f->words[i]);

        if (err)
            return err_wrap(err, "include %.60s", f->words[i]);
    }
    return NULL;
}

static err_t line_ends(const struct file *f)
{
    return err_new(ERR_CONF_SYNTAX, "missing ; or { at the end of the line of \"%.40s\"",
                   f->words[0]);
}

/* Older servers ignored line feeds, and some of their files have a line without `;`. Accepts this
 * if the next line begins with a name that this block knows. */
static err_t end_line(struct reader *r, struct file *f, const struct conf_token *t)
{
    struct conf_node *block = f->open[f->depth], *node;

    if (f->n < 2 || !block->table || !conf_legacy_knows(block, t->at, t->size) ||
        strcmp(f->words[0], "include") == 0)
        return line_ends(f);
    node = finish(r, f, false);
    node->unended = true;
    conf_node_append(block, node);
    return NULL;
}

static err_t on_word(struct reader *r, struct file *f, const struct conf_token *t)
{
    err_t err = f->n && t->new_line ? end_line(r, f, t) : NULL;

    if (err)
        return err;
    if (f->n == ARGS)
        return err_new(ERR_CONF_SYNTAX, "\"%.40s\" has more than %d words", f->words[0], ARGS);
    if (f->n == 0)
        f->line = t->line;
    f->words[f->n++] = conf_arena_str(r->arena, t->at, t->size);
    return NULL;
}

static err_t on_semicolon(struct reader *r, struct file *f)
{
    if (strcmp(f->words[0], "include") == 0)
        return include(r, f);
    conf_node_append(f->open[f->depth], finish(r, f, false));
    return NULL;
}

static err_t on_open(struct reader *r, struct file *f)
{
    const struct conf_block *in = f->open[f->depth]->table;
    const struct conf_row *row = in ? conf_table_find(in, f->words[0], strlen(f->words[0])) : NULL;
    struct conf_node *node;

    if (f->depth + 1 == CONF_TREE_BLOCKS)
        return err_new(ERR_CONF_SYNTAX, "more than %d nested blocks", CONF_TREE_BLOCKS);
    node = finish(r, f, true);
    node->table = row ? row->block : NULL;
    conf_node_append(f->open[f->depth], node);
    f->open[++f->depth] = node;
    return NULL;
}

static err_t on_token(struct reader *r, struct file *f, const struct conf_token *t)
{
    if (t->type == CONF_TOKEN_WORD)
        return on_word(r, f, t);
    if (f->n && t->new_line)
        return line_ends(f);
    if (t->type == CONF_TOKEN_CLOSE) {
        if (f->n)
            return err_new(ERR_CONF_SYNTAX, "missing ; after \"%.40s\"", f->words[0]);
        if (f->depth == 0)
            return err_new(ERR_CONF_SYNTAX, "} without a block");
        f->depth--;
        return NULL;
    }
    if (f->n == 0 || !f->words[0][0])
        return err_new(ERR_CONF_SYNTAX, "%c without a name before it", *t->at);
    return t->type == CONF_TOKEN_OPEN ? on_open(r, f) : on_semicolon(r, f);
}

static err_t at_end(const struct file *f)
{
    const struct conf_node *open = f->open[f->depth];

    if (f->n)
        return err_new(ERR_CONF_SYNTAX, "the file ends in \"%.40s\": missing ;", f->words[0]);
    if (f->depth)
        return err_new(ERR_CONF_SYNTAX, "missing } for \"%.40s\" of line %d", open->name,
                       open->line);
    return NULL;
}

static err_t parse(struct reader *r, struct file *f)
{
    struct conf_token t;
    err_t err = NULL;

    do {
        err = conf_lexer_next(&f->lx, &t);
        if (!err)
            err = t.type == CONF_TOKEN_END ? at_end(f) : on_token(r, f, &t);
    } while (!err && t.type != CONF_TOKEN_END);
    return err ? err_wrap(err, "%s:%d", end_of(f->name), f->n ? f->line : f->lx.line) : NULL;
}

static err_t parse_text(struct reader *r, struct conf_node *into, const char *name,
                        const char *text, size_t size)
{
    /* on the heap: includes nest, and a coroutine has a small stack */
    struct file *f = must(malloc(sizeof(*f)));
    err_t err;

    *f = (struct file){ .name = conf_arena_dup(r->arena, name), .open = { into } };
    conf_lexer_init(&f->lx, text, size);
    err = parse(r, f);
    free(f);
    return err;
}

static err_t get_text(const struct conf_source *src, const char *path, char **text, size_t *size)
{
    return (src->read ? src->read : conf_read_file)(src->arg, path, text, size);
}

static err_t read_file(struct reader *r, struct conf_node *into, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    err_t err;

    if (r->includes == CONF_TREE_INCLUDES)
        return err_new(ERR_CONF_SYNTAX, "more than %d nested includes", CONF_TREE_INCLUDES);
    if (r->files++ == CONF_TREE_FILES)
        return err_new(ERR_CONF_SYNTAX, "more than %d files", CONF_TREE_FILES);
    err = get_text(r->src, path, &text, &size);
    if (err)
        return err_wrap(err, "read the configuration");
    r->bytes += size;
    if (r->bytes > CONF_TREE_BYTES)
        err = err_new(ERR_CONF_SYNTAX, "more than %d bytes", CONF_TREE_BYTES);
    r->includes++;
    if (!err)
        err = parse_text(r, into, path, text, size);
    r->includes--;
    free(text);
    return err;
}

err_t conf_tree_read(struct conf_node **root, struct conf_arena *a,
                     const struct conf_source *src)
{
    struct reader r = { .arena = a, .src = src };
    struct conf_node *top = conf_node_new(a, "", NULL);
    err_t err;

    top->block = true;
    top->table = &conf_table_root;
    top->file = conf_arena_dup(a, src->path ? src->path : "environment");
    if (src->path)
        err = read_file(&r, top, src->path);
    else
        err = parse_text(&r, top, top->file, env_only, strlen(env_only));
    if (!err && !top->first)
        err = err_new(ERR_CONF, "%.60s is empty", top->file);
    if (err)
        err = conf_foreign(top, err);
    *root = err ? NULL : top;
    return err;
}
