/* SPDX-License-Identifier: MIT */
/* warn.h - lines of a configuration that are well-formed and do not do what is meant. */
#ifndef CONF_WARN_H
#define CONF_WARN_H

#include "conf/tree.h"
#include "conf/value.h"

/* Tells of all of them, each with its file and line. */
void conf_warn_vain(const struct conf *c, const struct conf_node *root,
                    const struct conf_ctx *ctx);

/* warn_ports.c: two protocols on one port. */
void conf_warn_ports(const struct conf *c, const struct conf_node *root,
                     const struct conf_ctx *ctx);
/* warn_environment.c: variables of the environment that look like settings and are none. */
void conf_warn_environment(const struct conf_ctx *ctx);

/* The node at a dotted path ("hls.hls_window") below `in`, or the last one of it that is there.
 * NULL if `in` is. */
const struct conf_node *conf_warn_node(const struct conf_node *in, const char *path);
/* A warning with the line of that node; NULL: with the file's name alone. */
void conf_warn_at(const struct conf_ctx *ctx, const struct conf_node *node, const char *text);

#endif
