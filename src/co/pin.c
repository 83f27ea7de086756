/* SPDX-License-Identifier: MIT */
/* pin.c - threads that stay on some cores, and what they start, which need not. */
#include "co/pin.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static cpu_set_t allowed;
static pthread_once_t allowed_once = PTHREAD_ONCE_INIT;
static atomic_bool some_are; /* pinned */

static void look(void)
{
    if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
        CPU_ZERO(&allowed); /* more cores than the set has room for */
}

const cpu_set_t *co_pin_allowed(void)
{
    (void)pthread_once(&allowed_once, look);
    return &allowed;
}

bool co_pin(const cpu_set_t *cores)
{
    (void)co_pin_allowed();
    if (sched_setaffinity(0, sizeof(*cores), cores) < 0)
        return false;
    atomic_store(&some_are, true);
    return true;
}

void co_unpin(void)
{
    if (atomic_load(&some_are) && CPU_COUNT(&allowed) > 0)
        (void)syscall(SYS_sched_setaffinity, 0, sizeof(allowed), &allowed);
}
