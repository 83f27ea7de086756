/* SPDX-License-Identifier: MIT */
/* slots.h - clients of a worker by the id that we gave them: a look into an array.
 *
 * An id is ((generation, slot), worker): the worker is id % workers, and a slot that is used again
 * has another generation, so who guesses, or comes too late, finds nobody.
 */
#ifndef SERVE_DATAGRAM_SLOTS_H
#define SERVE_DATAGRAM_SLOTS_H

#include <stddef.h>
#include <stdint.h>

enum { DATAGRAM_SLOT_BITS = 16, DATAGRAM_SLOTS_MAX = 1 << DATAGRAM_SLOT_BITS };

struct datagram_slots {
    unsigned worker, workers;
    unsigned bits;          /* that an id may have */
    struct datagram_slot {
        void *what;         /* NULL: free, then: */
        uint32_t next;      /* the one to be used after it */
        uint32_t generation;
    } *v;
    uint32_t n, used;       /* there are; taken */
    uint32_t first, last;   /* of those that are free, by when they became so */
};

/* The worker of an id: what a protocol's program for the kernel computes, too. */
static inline unsigned datagram_worker_of(uint32_t id, unsigned workers)
{
    return id % workers;
}

void datagram_slots_init(struct datagram_slots *s, unsigned worker, unsigned workers,
                         unsigned bits);
void datagram_slots_fini(struct datagram_slots *s);
/* An id for it, never 0; 0: there are no more. */
uint32_t datagram_slots_take(struct datagram_slots *s, void *what);
void datagram_slots_give(struct datagram_slots *s, uint32_t id);
void *datagram_slots_find(const struct datagram_slots *s, uint32_t id); /* NULL: nobody's, by now */
/* All of them: *at begins as 0; NULL: no more. */
void *datagram_slots_next(const struct datagram_slots *s, uint32_t *at);

#endif
