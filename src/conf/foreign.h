/* SPDX-License-Identifier: MIT */
/* foreign.h - detects configurations of nginx. */
#ifndef CONF_FOREIGN_H
#define CONF_FOREIGN_H

#include "conf/tree.h"

/* Adds a hint to the error of a file if its tree, possibly incomplete, looks like a configuration
 * of nginx. Takes ownership of err. */
err_t conf_foreign(const struct conf_node *root, err_t err) __attribute__((warn_unused_result));

#endif
