/* SPDX-License-Identifier: MIT */
/* blocks.c - blocks of one size, out of large pages. */
#include "vod/blocks.h"

#include "base/mem.h"
#include "base/must.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SLAB = 2 << 20, PER_SLAB = SLAB / VOD_BLOCK };
#define ALL_FREE (~UINT64_C(1)) /* the first one is the slab's own */
_Static_assert(PER_SLAB == 64, "a bit for each block");

struct slab { /* at its begin, which SLAB divides */
    struct slab *next, **prev; /* of those with a free block; prev is NULL: it is full */
    struct slab *all_next, **all_prev;
    uint64_t free;
};

struct returned { /* at the begin of a block */
    struct returned *next;
};

struct vod_blocks {
    atomic_uint refs;
    _Atomic(struct returned *) returned;
    struct slab *room, *all;
    unsigned n, n_empty; /* slabs; of these nothing is in use */
};

struct vod_blocks *vod_blocks_new(void)
{
    struct vod_blocks *b = must(calloc(1, sizeof(*b)));

    atomic_init(&b->refs, 1);
    atomic_init(&b->returned, NULL);
    return b;
}

struct vod_blocks *vod_blocks_ref(struct vod_blocks *b)
{
    atomic_fetch_add(&b->refs, 1);
    return b;
}

/* ---- slabs */

static void enter(struct vod_blocks *b, struct slab *s)
{
    s->next = b->room;
    s->prev = &b->room;
    if (s->next)
        s->next->prev = &s->next;
    b->room = s;
}

static void leave(struct slab *s)
{
    *s->prev = s->next;
    if (s->next)
        s->next->prev = s->prev;
    s->prev = NULL;
}

/* Twice as much has one in it that begins where it is to. */
static void *map_slab(void)
{
    uint8_t *p = mmap(NULL, 2 * (size_t)SLAB, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    size_t before;

    if (p == MAP_FAILED)
        return NULL;
    before = -(uintptr_t)p % SLAB;
    if (before > 0)
        (void)munmap(p, before);
    (void)munmap(p + before + SLAB, SLAB - before);
    (void)madvise(p + before, SLAB, MADV_HUGEPAGE); /* else they are small ones */
    return p + before;
}

static struct slab *new_slab(struct vod_blocks *b)
{
    struct slab *s = mem_may(SLAB) ? map_slab() : NULL;

    if (!s)
        return NULL;
    *s = (struct slab){ .free = ALL_FREE, .all_next = b->all, .all_prev = &b->all };
    if (s->all_next)
        s->all_next->all_prev = &s->all_next;
    b->all = s;
    enter(b, s);
    b->n++;
    b->n_empty++;
    return s;
}

static void free_slab(struct vod_blocks *b, struct slab *s)
{
    if (s->prev)
        leave(s);
    *s->all_prev = s->all_next;
    if (s->all_next)
        s->all_next->all_prev = s->all_prev;
    b->n--;
    (void)munmap(s, SLAB);
}

/* ---- blocks */

void vod_blocks_give(struct vod_blocks *b, uint8_t *block)
{
    size_t at = (uintptr_t)block % SLAB;
    struct slab *s = (struct slab *)(void *)(block - at);

    if (!s->prev)
        enter(b, s);
    s->free |= UINT64_C(1) << at / VOD_BLOCK;
    if (s->free != ALL_FREE)
        return;
    if (b->n_empty > 0) /* one is enough for who comes next */
        free_slab(b, s);
    else
        b->n_empty++;
}

static void take_returned(struct vod_blocks *b)
{
    struct returned *r = atomic_load(&b->returned) ? atomic_exchange(&b->returned, NULL) : NULL;

    while (r) {
        struct returned *next = r->next;

        vod_blocks_give(b, (uint8_t *)r);
        r = next;
    }
}

uint8_t *vod_blocks_take(struct vod_blocks *b, size_t limit)
{
    struct slab *s;
    unsigned i;

    take_returned(b);
    s = b->room;
    if (!s && (size_t)(b->n + 1) * SLAB <= limit)
        s = new_slab(b);
    if (!s)
        return NULL;
    b->n_empty -= s->free == ALL_FREE;
    i = (unsigned)__builtin_ctzl(s->free);
    s->free &= s->free - 1;
    if (!s->free)
        leave(s);
    return (uint8_t *)s + (size_t)i * VOD_BLOCK;
}

void vod_blocks_return(struct vod_blocks *b, uint8_t *block)
{
    struct returned *r = (void *)block;

    r->next = atomic_load(&b->returned);
    while (!atomic_compare_exchange_weak(&b->returned, &r->next, r))
        ;
}

size_t vod_blocks_bytes(const struct vod_blocks *b)
{
    return (size_t)b->n * SLAB;
}

void vod_blocks_unref(struct vod_blocks *b)
{
    if (!b || atomic_fetch_sub(&b->refs, 1) > 1)
        return;
    while (b->all)
        free_slab(b, b->all);
    free(b);
}
