/* SPDX-License-Identifier: MIT */
/* stack.c - stacks with a guard page below, kept for the next thread of the same size.
 *
 * The last one given back is the first one taken again: its pages are in the caches. Of each size
 * at most KEEP lie idle, the rest go back to the system, oldest first, so that a peak of threads
 * is not paid for ever. The newest idle stack is never unmapped: a thread that ends gives its
 * stack back while it still runs on it.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "common.h"

#ifdef ST_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#endif
#ifdef ST_VALGRIND
#include <valgrind/valgrind.h>
#endif

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102 /* Linux 6.13: a guard that splits no mapping */
#endif

enum { KEEP = 64, SIZES = 8 };

static _Thread_local struct idle_list {
    int stk_size; /* 0: this row is free */
    int count;
    _st_clist_t stacks; /* newest first */
} idle[SIZES];

/* Of the threads that live. A stack is known to its thread, which lives on it: only by this list
 * does a leak checker find it, and a debugger all threads. */
_Thread_local _st_clist_t _st_stacks;

static _Thread_local _st_stack_t *odd; /* given back last of those that no row is left for */

const void *st_thread_stacks(void)
{
    return &_st_stacks;
}

void _st_stacks_init(void)
{
    ST_INIT_CLIST(&_st_stacks);
}

/* NULL: more than SIZES sizes are in use. Stacks of the sizes that came last are not kept. */
static struct idle_list *idle_of(int stk_size)
{
    for (int i = 0; i < SIZES; i++) {
        if (idle[i].stk_size == 0) {
            idle[i].stk_size = stk_size;
            ST_INIT_CLIST(&idle[i].stacks);
        }
        if (idle[i].stk_size == stk_size)
            return &idle[i];
    }
    return NULL;
}

/* A thread may have ended in the middle of many calls: their frames are no longer poisoned. */
static void tools_take(_st_stack_t *ts)
{
#ifdef ST_ASAN
    __asan_unpoison_memory_region(ts->stk_bottom, (size_t)ts->stk_size);
    __lsan_register_root_region(ts->stk_bottom, (size_t)ts->stk_size);
#endif
#ifdef ST_VALGRIND
    ts->valgrind_id = VALGRIND_STACK_REGISTER(ts->stk_bottom, ts->stk_top);
#endif
    (void)ts;
}

static void tools_give(_st_stack_t *ts)
{
#ifdef ST_ASAN
    __lsan_unregister_root_region(ts->stk_bottom, (size_t)ts->stk_size);
#endif
    (void)ts;
}

static int guard(char *page, size_t size)
{
#if !defined(ST_VALGRIND)
    if (madvise(page, size, MADV_GUARD_INSTALL) == 0)
        return 0;
#endif
    return mprotect(page, size, PROT_NONE);
}

static void unmap(_st_stack_t *ts)
{
#ifdef ST_VALGRIND
    VALGRIND_STACK_DEREGISTER(ts->valgrind_id);
#endif
    munmap(ts->vaddr, (size_t)ts->vaddr_size);
    free(ts);
}

static _st_stack_t *map_new(int stk_size)
{
    _st_stack_t *ts = calloc(1, sizeof(*ts));
    char *base;

    if (!ts)
        return NULL;
    ts->stk_size = stk_size;
    ts->vaddr_size = stk_size + _ST_PAGE_SIZE;
    base = mmap(NULL, (size_t)ts->vaddr_size, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        free(ts);
        return NULL;
    }
    if (guard(base, (size_t)_ST_PAGE_SIZE) != 0) {
        munmap(base, (size_t)ts->vaddr_size);
        free(ts);
        return NULL;
    }
    ts->vaddr = base;
    ts->stk_bottom = base + _ST_PAGE_SIZE;
    ts->stk_top = ts->stk_bottom + stk_size;
    return ts;
}

_st_stack_t *_st_stack_new(int stk_size)
{
    struct idle_list *list = idle_of(stk_size);
    _st_stack_t *ts;

    if (list && list->count > 0) {
        ts = _ST_THREAD_STACK_PTR(list->stacks.next);
        ST_REMOVE_LINK(&ts->links);
        list->count--;
    } else {
        ts = map_new(stk_size);
    }
    if (ts) {
        ST_INSERT_LINK(&ts->links, &_st_stacks);
        tools_take(ts);
    }
    return ts;
}

void _st_stack_free(_st_stack_t *ts)
{
    struct idle_list *list = ts ? idle_of(ts->stk_size) : NULL;
    _st_stack_t *oldest;

    if (!ts)
        return;
    tools_give(ts);
    ST_REMOVE_LINK(&ts->links);
    if (!list) {
        if (odd)
            unmap(odd);
        odd = ts;
        return;
    }
    ST_INSERT_LINK(&ts->links, &list->stacks);
    if (++list->count > KEEP) {
        oldest = _ST_THREAD_STACK_PTR(list->stacks.prev);
        ST_REMOVE_LINK(&oldest->links);
        list->count--;
        unmap(oldest);
    }
}

/* All that lie idle; the caller runs on none of ours. */
void _st_stacks_end(void)
{
    for (int i = 0; i < SIZES && idle[i].stk_size; i++) {
        while (idle[i].count > 0) {
            _st_stack_t *ts = _ST_THREAD_STACK_PTR(idle[i].stacks.next);

            ST_REMOVE_LINK(&ts->links);
            idle[i].count--;
            unmap(ts);
        }
        idle[i].stk_size = 0;
    }
    if (odd)
        unmap(odd);
    odd = NULL;
}

int st_randomize_stacks(int on)
{
    (void)on; /* kept for the interface: the kernel places the mappings */
    return 0;
}
