/* SPDX-License-Identifier: MIT */
/* stalls.c - counts scheduler stalls by processor time.
 *
 * The processor time of a stall is its wall time minus the time in which the thread did not run.
 * The latter is not known per turn, only for the time since a sample of both clocks, a few
 * milliseconds ago: wall time that was not spent waiting for events, minus processor time. All of
 * that is charged to the stall, so the result is never too high.
 */
#include "co/stalls.h"

#include <st.h>
#include <string.h>
#include <time.h>

#include "base/log.h"

#define LEAST CO_MS(5)
#define SAMPLE_EVERY CO_MS(4) /* reading the processor time costs a system call */
#define LINE_EVERY CO_SECONDS(1)

static _Thread_local struct {
    co_usec at, cpu, waited; /* last sample; 0: none yet */
} sample;

static _Thread_local co_usec waited, woken_at; /* time spent waiting for events; last wake-up */
/* The ticker always has an entry. */
static _Thread_local struct co_stalls stalls[CO_STALLS_NAMES] = { { .name = "ticker" } };
static _Thread_local size_t names = 1;
static _Thread_local unsigned long count;
static _Thread_local co_usec logged_at;

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

/* Adds the last wait of the thread: since the switch to the scheduler or the last wake-up,
 * whichever is later. */
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
        if (strcmp(stalls[i].name, name) == 0)
            return &stalls[i];
    }
    if (names == CO_STALLS_NAMES)
        return &stalls[CO_STALLS_NAMES - 1];
    stalls[names] = (struct co_stalls){ .name = names == CO_STALLS_NAMES - 1 ? "others" : name };
    return &stalls[names++];
}

static void enter(co_usec held, co_usec now)
{
    struct co_stalls *h = entry_of(*co_name() ? co_name() : "scheduler");

    count++;
    h->count++;
    if (held > h->longest)
        h->longest = held;
    if (logged_at && now - logged_at < LINE_EVERY)
        return;
    logged_at = now;
    log_warn("coroutine %s held the thread for %lld.%lld ms of cpu; %lu stalls so far", h->name,
             us_to_ms(held), (long long)held % 1000 / 100, count);
}

static void on_stall(st_utime_t ran)
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
    st_on_held = on_stall;
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
        on_stall((st_utime_t)ran);
        st_switched_at += (st_utime_t)ran;
    }
}

size_t co_stalls_list(const struct co_stalls **out)
{
    *out = stalls;
    return names;
}

unsigned long co_stalls_count(void)
{
    return count;
}
