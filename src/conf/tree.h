/* SPDX-License-Identifier: MIT */
/* tree.h - parses configuration files into a tree of directives, without interpreting them.
 *
 * `include a b;` in any block is replaced by the content of these files. Their paths are relative
 * to the working directory of the process.
 */
#ifndef CONF_TREE_H
#define CONF_TREE_H

#include "conf/arena.h"
#include "conf/conf.h"
#include "conf/table.h"

enum {
    CONF_TREE_BLOCKS = 16,        /* nested blocks */
    CONF_TREE_INCLUDES = 16,      /* nested includes */
    CONF_TREE_FILES = 256,        /* files of one configuration */
    CONF_TREE_BYTES = 4 << 20,    /* total size of all files */
};

struct conf_node {
    const char *name; /* "" for the root */
    struct conf_list args;
    bool block;       /* it had { } */
    bool unended;     /* its `;` was missing, and the next line begins with a known name */
    const char *file;
    int line;
    const struct conf_block *table; /* directives allowed in it; NULL: unknown, or not a block */
    struct conf_node *first, *last, *next; /* children in file order */
};

/* Reads src->path and its includes; NULL: the configuration of `-e`. The tree is allocated in a. */
err_t conf_tree_read(struct conf_node **root, struct conf_arena *a,
                     const struct conf_source *src) __attribute__((warn_unused_result));

struct conf_node *conf_node_new(struct conf_arena *a, const char *name,
                                const struct conf_node *where);
void conf_node_append(struct conf_node *block, struct conf_node *child);
/* Removes child from block, which must contain it. */
void conf_node_remove(struct conf_node *block, struct conf_node *child);
/* Returns the first child of this name, or NULL. */
struct conf_node *conf_node_find(const struct conf_node *block, const char *name);

/* Prefixes an error with file and line of the node. Takes ownership of err. */
err_t conf_node_err(const struct conf_node *node, err_t err)
    __attribute__((warn_unused_result));

#endif
