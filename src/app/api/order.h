/* SPDX-License-Identifier: MIT */
/* order.h - sorting and searching of lists: sort=KEY (sort=-KEY: descending) and find=TEXT.
 *
 * A heap keeps only the rows up to the end of the requested page, so that a list of 10,000 needs
 * the memory of one page, and no call blocks the thread for long.
 */
#ifndef APP_API_ORDER_H
#define APP_API_ORDER_H

#include "app/api/api.h"

enum { ORDER_FIND_SIZE = 128 };

struct order_row {
    int64_t key;
    const char *text;  /* orders rows with equal keys; borrowed. NULL: the id does */
    uint64_t id;       /* identifies the row for the caller */
    unsigned group;    /* lower groups come first, independent of the direction */
    unsigned worker;   /* for the caller */
};

struct order {
    int by;            /* index in `keys`; -1: none */
    bool down;
    bool by_text;      /* `down` is the direction of `text`; set by the caller */
    char find[ORDER_FIND_SIZE]; /* "" matches everything */
    struct order_row *v;
    size_t n, most;
};

/* Reads the query. `most` is the number of rows to keep. */
void order_begin(struct order *o, const struct api_call *c, const char *const keys[], size_t n_keys,
                 size_t most);
/* Returns true if one of the texts contains find=TEXT, ignoring case. */
bool order_finds(const struct order *o, const char *const texts[], size_t n);
void order_add(struct order *o, const struct order_row *row);
/* Sorts the kept rows. Yields. */
void order_end(struct order *o);
void order_free(struct order *o);

#endif
