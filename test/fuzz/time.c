/* SPDX-License-Identifier: MIT */
/* time.c - a simulated clock that advances with each wait: hours of a conversation in a millisecond.
 *
 * The linker redirects the calls of the scheduler (--wrap). Its waits poll events and never
 * sleep; the time of a sleep is added to the clock.
 */
#include "fuzz.h"

#include <stdarg.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>

int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static bool flies;
static int64_t now; /* nanoseconds */
static unsigned busy;

void fuzz_time_flies(void)
{
    struct timespec ts;

    (void)__real_clock_gettime(CLOCK_MONOTONIC, &ts);
    now = ts.tv_sec * 1000000000 + ts.tv_nsec;
    flies = true;
}

void fuzz_time_busy(unsigned permille)
{
    busy = permille;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
    int64_t at;

    if (!flies || (id != CLOCK_MONOTONIC && id != CLOCK_THREAD_CPUTIME_ID))
        return __real_clock_gettime(id, ts);
    now += 1000;
    at = id == CLOCK_MONOTONIC ? now : now / 1000 * busy;
    *ts = (struct timespec){ at / 1000000000, at % 1000000000 };
    return 0;
}

static void pass(const struct timespec *ts)
{
    now += ts->tv_sec * 1000000000 + ts->tv_nsec;
}

long __wrap_syscall(long number, ...)
{
    static const struct timespec at_once;
    long a[6];
    va_list ap;

    va_start(ap, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(ap, long);
    va_end(ap);
    if (flies && number == SYS_epoll_pwait2 && a[3]) {
        pass((const struct timespec *)a[3]);
        a[3] = (long)&at_once;
    } else if (flies && number == SYS_clock_nanosleep) {
        pass((const struct timespec *)a[2]);
        return 0;
    }
    return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
