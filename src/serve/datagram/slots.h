/* SPDX-License-Identifier: MIT */
/* slots.h - clients of a worker by the id that the server assigned: an array lookup.
 *
 * An id is ((generation, slot), worker): the worker is id % workers. A reused slot has another
 * generation, so guessed and outdated ids find no client.
 */
#ifndef SERVE_DATAGRAM_SLOTS_H
#define SERVE_DATAGRAM_SLOTS_H

#include <stddef.h>
#include <stdint.h>

enum { DATAGRAM_SLOT_BITS = 16, DATAGRAM_SLOTS_MAX = 1 << DATAGRAM_SLOT_BITS };

struct datagram_slots {
    unsigned worker, workers;
    unsigned bits;          /* size of an id in bits */
    struct datagram_slot {
        void *what;         /* NULL: the slot is free, and then: */
        uint32_t next;      /* next free slot */
        uint32_t generation;
    } *v;
    uint32_t n, used;       /* number of slots; used slots */
    uint32_t first, last;   /* list of free slots, the longest free first */
};

/* Returns the worker of an id; a protocol's program in the kernel computes the same. */
static inline unsigned datagram_worker_of(uint32_t id, unsigned workers)
{
    return id % workers;
}

void datagram_slots_init(struct datagram_slots *s, unsigned worker, unsigned workers,
                         unsigned bits);
void datagram_slots_fini(struct datagram_slots *s);
/* Takes an id; 0 if there are no more. */
uint32_t datagram_slots_take(struct datagram_slots *s, void *what);
void datagram_slots_give(struct datagram_slots *s, uint32_t id);
void *datagram_slots_find(const struct datagram_slots *s, uint32_t id); /* or NULL */
/* Iterates over all; *at begins at 0; NULL after the last. */
void *datagram_slots_next(const struct datagram_slots *s, uint32_t *at);

#endif
