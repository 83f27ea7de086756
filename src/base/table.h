/* SPDX-License-Identifier: MIT */
/* table.h - a hash table of chained buckets that doubles as it fills. An entry embeds a table_link
 * (container_of()) and stays the caller's, who computes the hash and compares keys. */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_link {
    struct table_link *next;
    uint64_t hash;
};

struct table { /* all zeros: an empty table */
    struct table_link **v; /* mask + 1 buckets, or NULL */
    size_t mask, n;
};

void table_put(struct table *t, struct table_link *l, uint64_t hash);
bool table_remove(struct table *t, struct table_link *l); /* false: not in the table */
/* The link with that hash after `after`; pass NULL to start. NULL: no more. */
struct table_link *table_find(const struct table *t, uint64_t hash, const struct table_link *after);
/* Walks all links in no particular order; pass NULL to start. NULL: no more. */
struct table_link *table_next(const struct table *t, const struct table_link *after);
void table_free(struct table *t); /* does not free the entries */

#endif
