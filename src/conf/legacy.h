/* SPDX-License-Identifier: MIT */
/* legacy.h - converts old spellings in the tree before it is checked. */
#ifndef CONF_LEGACY_H
#define CONF_LEGACY_H

#include "conf/tree.h"

/* One old spelling. Paths are dotted and relative to the block `in`. */
struct conf_legacy {
    const char *in;   /* "" the root, "vhost", "stream_caster", ... : each block of that name */
    const char *from;
    const char *to;
    bool leaf;        /* applies only without { } */
    bool enable;      /* adds `enabled on` to the block of `to` */
    const char *const *words; /* old, new, old, new, ..., NULL: converts the argument too */
};

extern const struct conf_legacy conf_legacy_rows[];
extern const size_t conf_legacy_count;

/* Returns true if the block accepts this name, in its new or an old spelling. */
bool conf_legacy_knows(const struct conf_node *block, const char *name, size_t size);
void conf_legacy_rewrite(struct conf_node *root, struct conf_arena *a);

#endif
