/* SPDX-License-Identifier: MIT */
/* foreign.h - files that are of another server. */
#ifndef CONF_FOREIGN_H
#define CONF_FOREIGN_H

#include "conf/tree.h"

/* The error of a file with this tree, or with what was read of it; it says so if the file is one
 * of nginx. Takes over err. */
err_t conf_foreign(const struct conf_node *root, err_t err) __attribute__((warn_unused_result));

#endif
