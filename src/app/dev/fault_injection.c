/* SPDX-License-Identifier: MIT */
/* fault_injection.c - intentional bugs that test memory tools. */
#include "app/dev/fault_injection.h"

#include "base/must.h"
#include "config.h"

#if BUILD_GMC || BUILD_GMD || BUILD_VALGRIND || BUILD_SANITIZER

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* Block sizes that end at a page boundary, which the page fence requires. */
enum { LEAK_SIZE = 4096, OVERFLOW_SIZE = 4096 };

/* volatile, so that the compiler does not remove the bugs. */
static void *volatile block;
static volatile size_t size;

__attribute__((noinline)) static void inject_leak(void)
{
    size = LEAK_SIZE;
    block = malloc(size);
    block = NULL; /* leaks it */
}

__attribute__((noinline)) static void inject_overflow(void)
{
    unsigned char *p;

    size = OVERFLOW_SIZE;
    block = p = must(malloc(size));
    p[size] = 1; /* one byte past the end */
    free(block);
}

static err_t run(void *arg)
{
    const char *what = arg;

    log_warn("PLANT=%s: an intentional bug", what);
    if (strcmp(what, "leak") == 0)
        inject_leak();
    else if (strcmp(what, "overflow") == 0)
        inject_overflow();
    else
        log_warn("PLANT=%s: use leak or overflow", what);
    return NULL;
}

err_t fault_injection_start(struct co_group *g)
{
    char *what = getenv("PLANT");

    return what && *what ? co_go(g, "fault injection", run, what) : NULL;
}

#else

err_t fault_injection_start(struct co_group *g)
{
    (void)g;
    return NULL;
}

#endif
