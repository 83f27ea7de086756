/* SPDX-License-Identifier: MIT */
/* build.h - from a tree of directives to a filled struct conf. */
#ifndef CONF_BUILD_H
#define CONF_BUILD_H

#include "conf/tree.h"
#include "conf/value.h"

/* Every name is known and stands where it belongs, blocks are blocks, words are there. */
err_t conf_build_names(const struct conf_node *root, const struct conf_ctx *ctx)
    __attribute__((warn_unused_result));
/* Fill c from the tree, the environment and the defaults, as written: not yet resolved. */
err_t conf_build(struct conf *c, const struct conf_node *root, const struct conf_ctx *ctx)
    __attribute__((warn_unused_result));

#endif
