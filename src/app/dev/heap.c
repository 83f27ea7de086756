/* SPDX-License-Identifier: MIT */
/* heap.c - returns memory that malloc keeps to the system. */
#include "app/dev/heap.h"

#include "base/log.h"
#include "base/region.h"
#include "co/co.h"
#include "config.h"

enum {
    WORTH_IT = 8 << 20, /* bytes; a smaller peak would soon recur */
    MAPPED_ALONE = 128 << 10, KEPT_AT_THE_END = 1 << 20,
};

/* Static, because malloc is shared by the process. */
static size_t peak; /* highest usage since memory was last returned, bytes */
static double release_rate;

#if BUILD_GPERF
#include <gperftools/malloc_extension_c.h>

/* The C interface cannot set it: this is the flag behind TCMALLOC_RELEASE_RATE and
 * MallocExtension::SetMemoryReleaseRate() of the C++ interface. */
extern double flag __asm__("_ZN62FLAG__namespace_do_not_use_directly_use_DECLARE_double_instead27"
                           "FLAGS_tcmalloc_release_rateE") __attribute__((weak));

size_t heap_property(const char *name)
{
    size_t value = 0;

    (void)MallocExtension_GetNumericProperty(name, &value);
    return value;
}

/* Returns the bytes in use, without free blocks that malloc keeps. */
static size_t heap_used(void)
{
    return heap_property("generic.current_allocated_bytes");
}

static void give_back(void)
{
    double part = release_rate < 1 ? release_rate : 1;

    MallocExtension_MarkThreadIdle(); /* frees the thread's cache of small blocks */
    MallocExtension_ReleaseToSystem(
        (size_t)((double)heap_property("tcmalloc.pageheap_free_bytes") * part));
}

bool heap_text(char *text, size_t size)
{
    MallocExtension_GetStats(text, (int)size);
    return true;
}

static void set_up_malloc(double rate)
{
    if (&flag)
        flag = rate;
    log_trace("malloc: tcmalloc%s, release rate %.2g", BUILD_GMD ? " that checks" : "", rate);
}
#else
#include <malloc.h>

static size_t heap_used(void)
{
    struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

static void give_back(void)
{
    (void)malloc_trim(0);
}

bool heap_text(char *text, size_t size)
{
    (void)text;
    (void)size;
    return false;
}

size_t heap_property(const char *name)
{
    (void)name;
    return 0;
}

/* By default glibc raises the mmap threshold to the size of the largest block that was freed, up to
 * 32 MB. Large short-lived buffers, such as request bodies, then come from the heap and leave holes
 * between small long-lived blocks. Setting the threshold keeps it where it is. */
static void set_up_malloc(double rate)
{
    (void)rate;
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED_ALONE);
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_AT_THE_END);
}
#endif

double heap_release_rate(void)
{
    return release_rate;
}

void heap_init(double rate)
{
    release_rate = BUILD_GPERF ? rate : 1;
    set_up_malloc(rate);
}

/* Frees unused regions of streams, a few at a time, and yields in between. */
void heap_tend_regions(void)
{
    size_t before = region_stat().regions;

    region_sweep();
    while (region_sweep_step())
        co_yield_if_due();
    if (region_stat().regions < before)
        log_debug("streams keep %zu MB in %zu MB of memory, %zu MB less than before",
                  region_stat().used >> 20, region_stat().regions * REGION_SIZE >> 20,
                  (before - region_stat().regions) * REGION_SIZE >> 20);
}

void heap_tend(void)
{
    size_t used = heap_used();

    heap_tend_regions();
    if (used > peak)
        peak = used;
    if (release_rate <= 0 || peak - used < WORTH_IT || peak - used < used / 2)
        return;
    give_back();
    log_debug("malloc: the peak of %zu MB is over, %zu MB are in use", peak >> 20, used >> 20);
    peak = used;
}
