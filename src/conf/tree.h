/* SPDX-License-Identifier: MIT */
/* tree.h - configuration files as a tree of directives, before anyone asks what they mean.
 *
 * `include a b;` may stand in any block and is replaced by what those files say; their paths are
 * relative to the working directory of the process.
 */
#ifndef CONF_TREE_H
#define CONF_TREE_H

#include "conf/arena.h"
#include "conf/conf.h"
#include "conf/table.h"

enum {
    CONF_TREE_BLOCKS = 16,        /* blocks in blocks */
    CONF_TREE_INCLUDES = 16,      /* files in files */
    CONF_TREE_FILES = 256,        /* files of one configuration */
    CONF_TREE_BYTES = 4 << 20,    /* of all files together */
};

struct conf_node {
    const char *name; /* "" for the root */
    struct conf_list args;
    bool block;       /* it had { } */
    bool unended;     /* its ; was missing, and a known name began the next line */
    const char *file;
    int line;
    const struct conf_block *table; /* what may stand in it; NULL: not known, or none */
    struct conf_node *first, *last, *next; /* children in the order written */
};

/* Read src->path and all it includes; src->path NULL gives what `-e` means. The tree lives in a. */
err_t conf_tree_read(struct conf_node **root, struct conf_arena *a,
                     const struct conf_source *src) __attribute__((warn_unused_result));

struct conf_node *conf_node_new(struct conf_arena *a, const char *name,
                                const struct conf_node *where);
void conf_node_append(struct conf_node *block, struct conf_node *child);
/* Take child out of block; it must be in it. */
void conf_node_remove(struct conf_node *block, struct conf_node *child);
/* The first child of that name, or NULL. */
struct conf_node *conf_node_find(const struct conf_node *block, const char *name);

/* An error that begins with the place of the node. Takes over err. */
err_t conf_node_err(const struct conf_node *node, err_t err)
    __attribute__((warn_unused_result));

#endif
