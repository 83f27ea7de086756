/* SPDX-License-Identifier: MIT */
/* region.c - a buddy allocator in regions of 2 MB. */
#include "base/region.h"

#include "base/list.h"
#include "base/mem.h"
#include "base/thread_own.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* Unused memory is poisoned in builds with AddressSanitizer. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, size) ((void)(p), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(p, size) ((void)(p), (void)(size))
#endif

enum {
    PAGE = REGION_BLOCK_MIN, PAGES = REGION_SIZE / PAGE, ORDERS = 9,
    WORDS = PAGES / 64,
    PURGED = 4, /* free blocks of at least this order return to the system: 64 KB */
};

/* Stored in the first page of its memory. A block of order k has 2^k pages; block i of that order
 * starts at page i * 2^k. */
struct region {
    struct region *next, **prev;         /* in the list of regions with equal space */
    struct region *all_next, **all_prev;
    uint64_t free[ORDERS][WORDS];        /* a bit for each free block */
    uint16_t count[ORDERS];              /* their number */
    uint16_t used;                       /* pages in use */
    bool taken;                          /* a block was allocated since the last sweep */
    bool dirty;                          /* pages were freed since the last purge */
};

/* The regions of one thread. */
struct regions {
    struct region *room[ORDERS]; /* lists by the order of the largest free block */
    struct region *full, *idle;  /* idle: empty regions */
    struct region *all, *swept;  /* swept: the next region of the current sweep */
    size_t n, n_idle, used;
    size_t least_idle, to_free;  /* least_idle: since the last sweep */
    bool begun;
};

static _Thread_local struct regions here;

static unsigned order_of(size_t size)
{
    return (unsigned)__builtin_ctzl(size / PAGE);
}

size_t region_fit(size_t size)
{
    if (size <= REGION_BLOCK_MIN)
        return REGION_BLOCK_MIN;
    if (size > REGION_BLOCK_MAX)
        return (size + PAGE - 1) & ~(size_t)(PAGE - 1);
    return (size_t)1 << (64 - __builtin_clzl(size - 1));
}

/* ---- blocks of a region */

static void set_free(struct region *r, unsigned order, unsigned i)
{
    r->free[order][i / 64] |= (uint64_t)1 << i % 64;
    r->count[order]++;
}

static void set_used(struct region *r, unsigned order, unsigned i)
{
    r->free[order][i / 64] &= ~((uint64_t)1 << i % 64);
    r->count[order]--;
}

static bool is_free(const struct region *r, unsigned order, unsigned i)
{
    return r->free[order][i / 64] >> i % 64 & 1;
}

/* Returns the first free block, so that the end of a region becomes free. There must be one. */
static unsigned first_free(const struct region *r, unsigned order)
{
    unsigned word = 0;

    while (!r->free[order][word])
        word++;
    return word * 64 + (unsigned)__builtin_ctzl(r->free[order][word]);
}

/* Takes the smallest free block that is large enough, and frees its unused upper halves. */
static void *split(struct region *r, unsigned order)
{
    unsigned k = order, i;

    while (!r->count[k])
        k++;
    i = first_free(r, k);
    set_used(r, k, i);
    while (k > order) {
        k--;
        i *= 2;
        set_free(r, k, i + 1);
    }
    r->used += (uint16_t)(1u << order);
    r->taken = true;
    return (uint8_t *)r + ((size_t)i << order) * PAGE;
}

static void merge(struct region *r, unsigned order, unsigned i)
{
    r->used -= (uint16_t)(1u << order);
    r->dirty = true;
    while (order < ORDERS - 1 && is_free(r, order, i ^ 1)) {
        set_used(r, order, i ^ 1);
        i /= 2;
        order++;
    }
    set_free(r, order, i);
}

/* ---- regions */

static struct region **list_of(const struct region *r)
{
    if (r->used == 0)
        return &here.idle;
    for (int k = ORDERS - 1; k >= 0; k--) {
        if (r->count[k])
            return &here.room[k];
    }
    return &here.full;
}

static void unmap(void *p, size_t size)
{
    if (size > 0)
        (void)munmap(p, size);
}

static void *map(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static void free_region(struct region *r);

static void at_thread_end(void *unused)
{
    (void)unused;
    while (here.idle)
        free_region(here.idle);
}

/* The system often maps just below the last mapping, which is aligned. */
static void *map_aligned(void)
{
    uint8_t *p = map(REGION_SIZE);
    size_t before;

    if (!p || (uintptr_t)p % REGION_SIZE == 0)
        return p;
    unmap(p, REGION_SIZE);
    p = map((size_t)2 * REGION_SIZE);
    if (!p)
        return NULL;
    before = (REGION_SIZE - (uintptr_t)p % REGION_SIZE) % REGION_SIZE;
    unmap(p, before);
    unmap(p + before + REGION_SIZE, REGION_SIZE - before);
    return p + before;
}

static struct region *begin(void *memory)
{
    struct region *r = memory;

    if (!here.begun)
        (void)thread_own(0, at_thread_end);
    here.begun = true;
    *r = (struct region){ .dirty = true };
    for (unsigned k = 0; k < ORDERS; k++)
        set_free(r, k, 1); /* all but the first page */
    r->all_next = here.all;
    r->all_prev = &here.all;
    if (here.all)
        here.all->all_prev = &r->all_next;
    here.all = r;
    LIST_PUT(&here.idle, r);
    here.n++;
    here.n_idle++;
    return r;
}

static struct region *new_region(void)
{
    void *memory = mem_may(REGION_SIZE) ? map_aligned() : NULL;

    return memory ? begin(memory) : NULL;
}

/* Frees a block with its own mapping. Unmapping much at once takes long, so it becomes regions. */
static void give_large(uint8_t *p, size_t size)
{
    uint8_t *end = p + size;
    size_t before = -(uintptr_t)p % REGION_SIZE;

    before = before < size ? before : size;
    unmap(p, before);
    for (p += before; (size_t)(end - p) >= REGION_SIZE; p += REGION_SIZE)
        (void)begin(p);
    unmap(p, (size_t)(end - p));
}

static void free_region(struct region *r)
{
    LIST_TAKE(r);
    *r->all_prev = r->all_next;
    if (r->all_next)
        r->all_next->all_prev = r->all_prev;
    if (here.swept == r)
        here.swept = r->all_next;
    here.n--;
    here.n_idle--;
    ASAN_UNPOISON_MEMORY_REGION(r, REGION_SIZE);
    unmap(r, REGION_SIZE);
}

/* Returns the fullest region with enough space, so that others become empty. */
static struct region *region_with(unsigned order)
{
    for (unsigned k = order; k < ORDERS; k++) {
        if (here.room[k])
            return here.room[k];
    }
    return here.idle ? here.idle : new_region();
}

/* ---- allocation */

void *region_take(size_t size)
{
    struct region *r;
    void *p;

    if (size > REGION_BLOCK_MAX) {
        p = mem_may(size) ? map(size) : NULL;
        here.used += p ? size : 0;
        return p;
    }
    r = region_with(order_of(size));
    if (!r)
        return NULL;
    LIST_TAKE(r);
    if (r->used == 0 && --here.n_idle < here.least_idle)
        here.least_idle = here.n_idle;
    p = split(r, order_of(size));
    ASAN_UNPOISON_MEMORY_REGION(p, size);
    LIST_PUT(list_of(r), r);
    here.used += size;
    return p;
}

void region_give(void *p, size_t size)
{
    size_t at = (uintptr_t)p % REGION_SIZE;
    struct region *r = (struct region *)(void *)((uint8_t *)p - at);

    here.used -= size;
    if (size > REGION_BLOCK_MAX) {
        give_large(p, size);
        return;
    }
    LIST_TAKE(r);
    ASAN_POISON_MEMORY_REGION(p, size);
    merge(r, order_of(size), (unsigned)(at / size));
    if (r->used == 0)
        here.n_idle++;
    LIST_PUT(list_of(r), r);
}

void *region_grow(void *p, size_t from, size_t to)
{
    void *more;

    if (from > REGION_BLOCK_MAX) { /* mremap() moves the pages; nothing is copied */
        more = mem_may(to) ? mremap(p, from, to, MREMAP_MAYMOVE) : MAP_FAILED;
        if (more == MAP_FAILED)
            return NULL;
        here.used += to - from;
        return more;
    }
    more = region_take(to);
    if (!more)
        return NULL;
    memcpy(more, p, from);
    region_give(p, from);
    return more;
}

/* ---- returning memory to the system */

void region_sweep(void)
{
    here.to_free = here.least_idle;
    here.least_idle = here.n_idle;
    here.swept = here.all;
}

/* Returns large free blocks of an unused region to the system. */
static void purge(struct region *r)
{
    if (!r->taken && r->dirty) {
        for (unsigned k = PURGED; k < ORDERS; k++) {
            for (unsigned i = 0; i < (unsigned)PAGES >> k; i++) {
                if (is_free(r, k, i))
                    (void)madvise((uint8_t *)r + ((size_t)i << k) * PAGE, ((size_t)1 << k) * PAGE,
                                  MADV_DONTNEED);
            }
        }
        r->dirty = false;
    }
    r->taken = false;
}

bool region_sweep_step(void)
{
    if (here.to_free > 0 && here.idle) {
        here.to_free--;
        free_region(here.idle);
    } else if (here.swept) {
        struct region *r = here.swept;

        here.swept = r->all_next;
        purge(r);
    } else {
        return false;
    }
    return true;
}

bool region_free_idle(size_t size)
{
    bool done = here.idle != NULL;

    for (size_t freed = 0; freed < size && here.idle; freed += REGION_SIZE)
        free_region(here.idle);
    if (here.least_idle > here.n_idle)
        here.least_idle = here.n_idle;
    return done;
}

struct region_stat region_stat(void)
{
    return (struct region_stat){ .regions = here.n, .idle = here.n_idle, .used = here.used };
}
