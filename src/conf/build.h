/* SPDX-License-Identifier: MIT */
/* build.h - fills a struct conf from a tree of directives. */
#ifndef CONF_BUILD_H
#define CONF_BUILD_H

#include "conf/tree.h"
#include "conf/value.h"

/* Checks that every name is known in its block, that blocks have { } and that names are present. */
err_t conf_build_names(const struct conf_node *root, const struct conf_ctx *ctx)
    __attribute__((warn_unused_result));
/* Fills c from the tree, the environment and the defaults. Values are not resolved yet. */
err_t conf_build(struct conf *c, const struct conf_node *root, const struct conf_ctx *ctx)
    __attribute__((warn_unused_result));

#endif
