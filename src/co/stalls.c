/* SPDX-License-Identifier: MIT */
/* stalls.c - who kept the thread for too long, by processor time.
 *
 * The processor time of a hold is its wall time less what the thread was not run meanwhile. The
 * latter is not known for each turn, but for the time since a sample of both clocks, a few
 * milliseconds ago: wall time that was not waiting for events, less processor time. All of it is
 * taken to have been in the hold, so what is said is never more than it was.
 */
#include "co/stalls.h"

#include <st.h>
#include <string.h>
#include <time.h>

#include "base/log.h"

#define LEAST CO_MS(5)
#define SAMPLE_EVERY CO_MS(4) /* the clock of the processor costs a system call */
#define LINE_EVERY CO_SECONDS(1)

static _Thread_local struct {
    co_usec at, cpu, waited; /* a sample; 0: none yet */
} sample;

static _Thread_local co_usec waited, woken_at; /* for events, so far; the last time */
/* The first is known to be there. */
static _Thread_local struct co_stalls holds[CO_STALLS_NAMES] = { { .name = "ticker" } };
static _Thread_local size_t names = 1;
static _Thread_local unsigned long count;
static _Thread_local co_usec told_at;

static co_usec cpu_clock(void)
{
    return clock_us(CLOCK_THREAD_CPUTIME_ID);
}

static void take_sample(co_usec now, co_usec cpu)
{
    sample.at = now;
    sample.cpu = cpu;
    sample.waited = waited;
}

/* The thread has waited since the scheduler's own was switched to, or since it was woken last. */
static void on_woken(void)
{
    co_usec now = co_clock();

    waited += now - (co_now() > woken_at ? co_now() : woken_at);
    woken_at = now;
    if (now - sample.at >= SAMPLE_EVERY)
        take_sample(now, cpu_clock());
}

static struct co_stalls *entry_of(const char *name)
{
    for (size_t i = 0; i < names; i++) {
        if (strcmp(holds[i].name, name) == 0)
            return &holds[i];
    }
    if (names == CO_STALLS_NAMES)
        return &holds[CO_STALLS_NAMES - 1];
    holds[names] = (struct co_stalls){ .name = names == CO_STALLS_NAMES - 1 ? "others" : name };
    return &holds[names++];
}

static void enter(co_usec held, co_usec now)
{
    struct co_stalls *h = entry_of(*co_name() ? co_name() : "of the scheduler");

    count++;
    h->count++;
    if (held > h->longest)
        h->longest = held;
    if (told_at && now - told_at < LINE_EVERY)
        return;
    told_at = now;
    log_warn("coroutine %s held the thread for %lld.%lld ms of cpu; %lu holds so far", h->name,
             us_to_ms(held), (long long)held % 1000 / 100, count);
}

static void on_held(st_utime_t ran)
{
    co_usec now = co_now() + (co_usec)ran, cpu = cpu_clock();
    co_usec busy = now - sample.at - (waited - sample.waited);
    co_usec away = busy - (cpu - sample.cpu);
    co_usec held = (co_usec)ran - (away > 0 ? away : 0);

    take_sample(now, cpu);
    if (held >= LEAST)
        enter(held, now);
}

void co_stalls_start(void)
{
    st_switched_at = (st_utime_t)co_clock();
    take_sample(co_now(), cpu_clock());
    st_held_least = (st_utime_t)LEAST;
    st_on_held = on_held;
    st_on_woken = on_woken;
}

void co_stalls_stop(void)
{
    st_on_held = NULL;
    st_on_woken = NULL;
}

void co_stalls_end(void)
{
    co_usec ran = co_clock() - co_now();

    if (st_on_held && ran >= LEAST) {
        on_held((st_utime_t)ran);
        st_switched_at += (st_utime_t)ran;
    }
}

size_t co_stalls_list(const struct co_stalls **out)
{
    *out = holds;
    return names;
}

unsigned long co_stalls_count(void)
{
    return count;
}
