/* SPDX-License-Identifier: MIT */
/* mem.c - allocations whose size depends on a peer; they may fail. */
#include "base/mem.h"

#include "base/region.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

/* LEFT: memory reserved for small allocations. CHECK: a thread checks again after this many bytes;
 * a check costs two system calls. Untouched pages cost no memory. */
enum { LEFT = 8 << 20, CHECK = 1 << 20 };

static _Thread_local size_t since;
static atomic_bool scarce;    /* for all threads: if set, each allocation checks */
static atomic_size_t unseen;  /* memory that other threads may have taken since a check */

static bool is_there(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p != MAP_FAILED)
        (void)munmap(p, size);
    return p != MAP_FAILED;
}

static bool check_left(size_t size)
{
    bool none;

    size += LEFT + atomic_load_explicit(&unseen, memory_order_relaxed);
    since = 0;
    none = !is_there(size) && !(region_free_idle(size) && is_there(size));
    if (none != atomic_load_explicit(&scarce, memory_order_relaxed))
        atomic_store_explicit(&scarce, none, memory_order_relaxed);
    return !none;
}

void mem_threads(unsigned n)
{
    atomic_store(&unseen, (size_t)(n - 1) * CHECK);
}

bool mem_may(size_t size)
{
    since += size;
    return (since < CHECK && !atomic_load_explicit(&scarce, memory_order_relaxed)) ||
           check_left(size);
}

bool mem_left(void)
{
    return check_left(0);
}

void *mem_try(size_t size)
{
    return mem_may(size) ? malloc(size) : NULL;
}

void *mem_try_more(void *p, size_t size)
{
    return mem_may(size) ? realloc(p, size) : NULL;
}

void *mem_try_room(void *v, size_t n, size_t *cap, size_t each)
{
    size_t more = *cap ? *cap * 2 : 64;
    void *p = n < *cap ? v : mem_try_more(v, more * each);

    if (p && n == *cap)
        *cap = more;
    return p;
}
