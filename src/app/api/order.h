/* SPDX-License-Identifier: MIT */
/* order.h - the query's sort=KEY (sort=-KEY: descending) and find=TEXT of a list.
 *
 * Only the rows up to the end of the page that is asked for are kept, in a heap, so that a list of
 * 10,000 costs the memory of one page, and no call holds the thread.
 */
#ifndef APP_API_ORDER_H
#define APP_API_ORDER_H

#include "app/api/api.h"

enum { ORDER_FIND_SIZE = 128 };

struct order_row {
    int64_t key;
    const char *text;  /* decides between equal keys; borrowed. NULL: the id does */
    uint64_t id;       /* the caller's: which row it is */
    unsigned group;    /* rows of a lower one come first, whatever the direction */
    unsigned worker;   /* the caller's */
};

struct order {
    int by;            /* index in `keys`; -1: the query names none of them */
    bool down;
    bool by_text;      /* `down` is the direction of the text: set by the caller */
    char find[ORDER_FIND_SIZE]; /* "": everything */
    struct order_row *v;
    size_t n, most;
};

/* Reads the query. `most`: rows that are kept. */
void order_begin(struct order *o, const struct api_call *c, const char *const keys[], size_t n_keys,
                 size_t most);
/* Does one of the texts contain what is looked for? Case does not matter. */
bool order_finds(const struct order *o, const char *const texts[], size_t n);
void order_add(struct order *o, const struct order_row *row);
/* From the first to the last. Yields. */
void order_end(struct order *o);
void order_free(struct order *o);

#endif
