/* SPDX-License-Identifier: MIT */
/* table.h - things by their hashes: lists in a row that doubles with what is in it. A thing has a
 * link as a member (container_of()); the caller makes the hash and compares keys. */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_link {
    struct table_link *next;
    uint64_t hash;
};

struct table { /* zeroed: empty */
    struct table_link **v; /* mask + 1 of them; or NULL */
    size_t mask, n;
};

void table_put(struct table *t, struct table_link *l, uint64_t hash);
bool table_remove(struct table *t, struct table_link *l); /* false: it is not in the table */
/* The next link with that hash: NULL begins and ends. */
struct table_link *table_find(const struct table *t, uint64_t hash, const struct table_link *after);
/* The next of all links, in no order: NULL begins and ends. */
struct table_link *table_next(const struct table *t, const struct table_link *after);
void table_free(struct table *t); /* what is in it stays as it is */

#endif
