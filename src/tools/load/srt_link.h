/* SPDX-License-Identifier: MIT */
/* srt_link.h - a bad network between the socket and the clients, by a seed: loses in runs, sends
 * twice, delays, and lets some overtake. Both ways alike.
 */
#ifndef TOOLS_LOAD_SRT_LINK_H
#define TOOLS_LOAD_SRT_LINK_H

#include "co/net/udp.h"
#include "tools/load/opts.h"

enum load_link_way { LOAD_LINK_OUT, LOAD_LINK_IN };

struct load_link_item {
    struct load_link_item *next;
    co_usec due;
    struct udp_path path;
    size_t size;
    uint8_t data[];
};

struct load_link {
    double loss, twice, reorder; /* parts of 1 */
    unsigned run;                /* so many are lost in a row */
    co_usec delay;               /* one way */
    co_usec loss_from, loss_to;  /* `loss` of them are lost meanwhile */
    co_usec cut_from, cut_to;    /* all are lost meanwhile */
    uint64_t random;
    struct load_link_way_state {
        struct load_link_item *first, *last; /* by when they are due */
        unsigned losing;
        uint64_t came, lost;
    } way[2];
};

void load_link_init(struct load_link *l, const struct load_opts *o, co_usec now);
void load_link_fini(struct load_link *l);
/* Does it do anything at all? */
bool load_link_is_on(const struct load_link *l);
void load_link_put(struct load_link *l, enum load_link_way way, const struct udp_path *path,
                   const struct iovec *iov, int count, co_usec now);
/* One that is through by now, for the caller to free; NULL: none. */
struct load_link_item *load_link_take(struct load_link *l, enum load_link_way way, co_usec now);

#endif
