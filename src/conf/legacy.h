/* SPDX-License-Identifier: MIT */
/* legacy.h - old spellings, rewritten in the tree before anyone checks it. */
#ifndef CONF_LEGACY_H
#define CONF_LEGACY_H

#include "conf/tree.h"

/* One old spelling. Paths are dotted and begin in the block `in`. */
struct conf_legacy {
    const char *in;   /* "" the root, "vhost", "stream_caster", ... : each block of that name */
    const char *from;
    const char *to;
    bool leaf;        /* only where it has no { } */
    bool enable;      /* the block of `to` gets `enabled on` */
    const char *const *words; /* old, new, old, new, ..., NULL: the argument changes, too */
};

extern const struct conf_legacy conf_legacy_rows[];
extern const size_t conf_legacy_count;

/* May a line that begins with this name stand in the block, by its new or an old spelling? */
bool conf_legacy_knows(const struct conf_node *block, const char *name, size_t size);
void conf_legacy_rewrite(struct conf_node *root, struct conf_arena *a);

#endif
