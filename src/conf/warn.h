/* SPDX-License-Identifier: MIT */
/* warn.h - warns about valid directives that have no effect or an unexpected one. */
#ifndef CONF_WARN_H
#define CONF_WARN_H

#include "conf/tree.h"
#include "conf/value.h"

/* Reports all such directives, with file and line. */
void conf_warn_no_effect(const struct conf *c, const struct conf_node *root,
                         const struct conf_ctx *ctx);

/* warn_ports.c: two protocols on one port. */
void conf_warn_ports(const struct conf *c, const struct conf_node *root,
                     const struct conf_ctx *ctx);
/* warn_environment.c: variables SRS_... that are not settings. */
void conf_warn_environment(const struct conf_ctx *ctx);

/* Returns the node at a dotted path ("hls.hls_window") below `in`, or the deepest existing one.
 * Returns NULL if `in` is NULL. */
const struct conf_node *conf_warn_node(const struct conf_node *in, const char *path);
/* Warns with the line of the node; NULL: only with the name of the file. */
void conf_warn_at(const struct conf_ctx *ctx, const struct conf_node *node, const char *text);

#endif
