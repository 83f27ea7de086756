/* SPDX-License-Identifier: MIT */
/* thread.c - helper threads without threads: their work runs at once, so that nothing
 * depends on the order, and a run takes no switches.
 */
#include "co/thread.h"
#include "fuzz.h"

#include <stdbool.h>

err_t __real_co_thread_run(enum co_pool pool, void (*fn)(void *arg), void *arg,
                           void (*drop)(void *arg), co_usec timeout);
err_t __wrap_co_thread_run(enum co_pool pool, void (*fn)(void *arg), void *arg,
                           void (*drop)(void *arg), co_usec timeout);

static bool none;

void fuzz_no_threads(void)
{
    none = true;
}

err_t __wrap_co_thread_run(enum co_pool pool, void (*fn)(void *arg), void *arg,
                           void (*drop)(void *arg), co_usec timeout)
{
    if (!none)
        return __real_co_thread_run(pool, fn, arg, drop, timeout);
    fn(arg);
    return NULL;
}
