/* SPDX-License-Identifier: MIT */
/* slots.h - connections of a worker by the id that we gave them: a look into an array.
 *
 * An id is ((generation, slot), worker): the worker is id % workers (choice.h), and a slot that is
 * used again has another generation, so who guesses, or comes too late, finds nobody.
 */
#ifndef SERVE_SRT_SLOTS_H
#define SERVE_SRT_SLOTS_H

#include <stddef.h>
#include <stdint.h>

enum { SRT_SLOT_BITS = 16, SRT_SLOTS_MAX = 1 << SRT_SLOT_BITS };

struct srt_slots {
    unsigned worker, workers;
    struct srt_slot {
        void *what;         /* NULL: free, then: */
        uint32_t next;      /* the one to be used after it */
        uint32_t generation;
    } *v;
    uint32_t n, used;       /* there are; taken */
    uint32_t first, last;   /* of those that are free, by when they became so */
};

void srt_slots_init(struct srt_slots *s, unsigned worker, unsigned workers);
void srt_slots_fini(struct srt_slots *s);
/* An id for it, never 0; 0: there are no more. */
uint32_t srt_slots_take(struct srt_slots *s, void *what);
void srt_slots_give(struct srt_slots *s, uint32_t id);
void *srt_slots_find(const struct srt_slots *s, uint32_t id); /* NULL: nobody's, by now */
/* All of them: *at begins as 0; NULL: no more. */
void *srt_slots_next(const struct srt_slots *s, uint32_t *at);

#endif
