/* SPDX-License-Identifier: MIT */
/* ticker.c - a hashed timer wheel, turned by one state-thread.
 *
 * State-threads keeps sleepers in a heap: with 15,000 of them each sleep touches a dozen cache
 * lines on other coroutines' stacks. Here a timer is in the list of its 4 ms slot; a timer that is
 * due in a later turn of the wheel stays when its slot is processed.
 */
#include "co/ticker.h"

#include "base/container_of.h"
#include "co/co.h"

#include <st.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/list.h"
#include "base/must.h"

enum { TICK = 4000, SLOTS = 1024, WORDS = SLOTS / 64, CLOCK_PERIOD = 20000,
       LOAD_PERIOD = 250000, A_FEW = 4 };
/* A thread becomes quiet after QUIET_SECONDS seconds with fewer than QUIET_SWITCHES switches each.
 * It stays quiet up to LOUD_SWITCHES, because much of its periodic maintenance runs in one
 * second. */
enum { QUIET_PERIOD = 1000000, QUIET_SWITCHES = 30, LOUD_SWITCHES = 80, QUIET_SECONDS = 2 };
/* With a thousand busy coroutines, slices of a millisecond make a round of a second. So slices
 * become shorter while rounds take longer than ROUND_MAX. */
enum { SLICE = 1000, SLICE_MIN = 100, ROUND_MAX = 50000 };

/* All variables below belong to the scheduler of the thread. */
static _Thread_local struct co_timer **slots; /* SLOTS entries */
static _Thread_local uint64_t in_use[WORDS];  /* one bit per slot that has timers */
static _Thread_local struct co_task *tasks, **tasks_end; /* NULL before the first */
static _Thread_local int64_t turned;  /* the last tick whose slot was processed */
/* the tick until which the ticker sleeps, INT64_MAX if there are no timers */
static _Thread_local int64_t planned;
static _Thread_local unsigned done;   /* timers and tasks run so far */
/* signalled when a timer is set that is due before `planned` */
static _Thread_local st_cond_t moved;
static _Thread_local bool ending;     /* cleared when the ticker has ended */

static _Thread_local struct {
    unsigned permille;        /* smoothed */
    co_usec sampled_at, used; /* the thread's processor time at the sample */
} load;

/* how long a coroutine may keep the thread while others wait */
static _Thread_local co_usec slice = SLICE;
static _Thread_local bool collect_always;
static _Thread_local struct co_lateness lateness;
static _Thread_local struct co_timer clock_timer;

static _Thread_local struct {
    atomic_bool now;
    /* consecutive seconds with almost no work; clock wake-ups in this second */
    unsigned calm, wakes;
    unsigned long switches;    /* at the start of this second */
    co_usec since;
    void (*on_end)(void);
} quiet;

/* Lets others run between timers: thousands may be due at once. Checks only after every few, since
 * reading the time costs a little compared with a timer's work. */
static void yield_to_others(void)
{
    if (++done % A_FEW || !co_slice_over())
        return;
    (void)st_usleep(0);
    co_ticker_runs();
}

static void mark(size_t slot)
{
    in_use[slot / 64] |= (uint64_t)1 << (slot % 64);
}

void co_timer_cancel(struct co_timer *t)
{
    if (!t->prev)
        return;
    LIST_TAKE(t);
}

void co_timer_set(struct co_timer *t, co_usec due, void (*fn)(struct co_timer *t))
{
    int64_t tick = (due + TICK - 1) / TICK;
    struct co_timer **head;

    co_timer_cancel(t);
    if (tick <= turned)
        tick = turned + 1;
    head = &slots[tick % SLOTS];
    t->due = due;
    t->fn = fn;
    LIST_PUT(head, t);
    mark((size_t)(tick % SLOTS));
    if (tick < planned) {
        planned = tick;
        if (moved)
            (void)st_cond_signal(moved);
    }
}

void co_post(struct co_task *t, void (*fn)(struct co_task *t))
{
    if (t->posted)
        return;
    *t = (struct co_task){ .fn = fn, .posted = true };
    if (!tasks_end)
        tasks_end = &tasks;
    *tasks_end = t;
    tasks_end = &t->next;
    if (moved)
        (void)st_cond_signal(moved);
}

void co_post_cancel(struct co_task *t)
{
    struct co_task **at = &tasks;

    if (!t->posted)
        return;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    if (tasks_end == &t->next)
        tasks_end = at;
    t->posted = false;
}

/* Runs the tasks that are posted now; tasks that they post run the next time. */
static void run_tasks(void)
{
    struct co_task *last = tasks ? container_of(tasks_end, struct co_task, next) : NULL;

    while (tasks) {
        struct co_task *t = tasks;
        bool end = t == last;

        co_post_cancel(t);
        t->fn(t);
        if (end)
            break;
        yield_to_others();
    }
}

/* Runs the due timers of one slot. A timer may set or cancel any other while it runs, so the list
 * is detached first and timers that are not due go back. */
static void turn(size_t slot, co_usec now)
{
    struct co_timer *todo = slots[slot];
    struct co_timer *t;

    slots[slot] = NULL;
    in_use[slot / 64] &= ~((uint64_t)1 << (slot % 64));
    if (todo)
        todo->prev = &todo;
    while ((t = todo)) {
        co_timer_cancel(t);
        if (t->due <= now)
            t->fn(t);
        else
            co_timer_set(t, t->due, t->fn);
        yield_to_others();
    }
}

static bool is_quiet(void)
{
    return atomic_load_explicit(&quiet.now, memory_order_relaxed);
}

static bool has_due(int64_t tick)
{
    const struct co_timer *t = slots[tick % SLOTS];

    while (t && t->due > tick * TICK)
        t = t->next;
    return t;
}

/* Returns the next tick after `turned` whose slot has timers, within one turn of the wheel. A quiet
 * thread, whose clock timer is always within a turn, does not wake for timers of later turns. */
static int64_t next_tick(void)
{
    for (int64_t tick = turned + 1; tick <= turned + SLOTS;) {
        size_t slot = (size_t)(tick % SLOTS);
        uint64_t bits = in_use[slot / 64] >> (slot % 64);

        tick += bits ? __builtin_ctzll(bits) : (int64_t)(64 - slot % 64);
        if (bits && (!is_quiet() || has_due(tick)))
            return tick;
        tick += bits != 0;
    }
    return INT64_MAX;
}

static void turn_to(int64_t tick, co_usec now)
{
    int64_t from = turned + 1;

    if (tick - from >= SLOTS)
        from = tick - SLOTS + 1; /* after a pause longer than a turn: each slot once */
    for (int64_t at = from; at <= tick; at++) {
        turned = at;
        if (slots[at % SLOTS])
            turn((size_t)(at % SLOTS), now);
    }
    turned = tick;
}

static void *ticker(void *arg)
{
    (void)arg;
    st_urgent(true);
    while (!ending) {
        co_usec now = co_clock();
        int64_t tick = now / TICK;

        co_ticker_runs();
        if (tick > turned)
            turn_to(tick, now);
        run_tasks();
        planned = next_tick();
        if (tasks) {
            (void)st_usleep(0);
        } else if (planned == INT64_MAX) {
            (void)st_cond_wait(moved);
        } else {
            now = co_clock();
            if (planned * TICK > now)
                (void)st_cond_timedwait(moved, (st_utime_t)(planned * TICK - now));
            else
                (void)st_usleep(0); /* late: let the woken coroutines run before the next slot */
        }
    }
    ending = false;
    return NULL;
}

/* A thread that wakes 10,000 times a second spends a third of its time on that. Once it is busy, it
 * lets events gather for a millisecond before it polls; the delay has no visible effect. */
enum { BATCH = 1000, BATCH_ABOVE = 40, BATCH_BELOW = 20 };

static co_usec thread_time(void)
{
    return clock_us(CLOCK_THREAD_CPUTIME_ID);
}

static void sample_load(co_usec now)
{
    co_usec used;

    if (now - load.sampled_at < LOAD_PERIOD)
        return;
    used = thread_time();
    load.permille = (load.permille + (unsigned)((used - load.used) * 1000 /
                                                (now - load.sampled_at))) / 2;
    load.sampled_at = now;
    load.used = used;
    if (load.permille >= BATCH_ABOVE)
        st_batch_usec = BATCH;
    else if (load.permille < BATCH_BELOW && !collect_always)
        st_batch_usec = 0;
}

void co_gather_always(void)
{
    collect_always = true;
    st_batch_usec = BATCH;
}

unsigned co_load(void)
{
    return load.permille;
}

static void fit_slice(co_usec late)
{
    if (late > ROUND_MAX && slice / 2 >= SLICE_MIN)
        slice /= 2;
    else if (late < ROUND_MAX / 4 && slice < SLICE)
        slice *= 2;
}

co_usec ticker_slice(void)
{
    return slice;
}

static void on_clock(struct co_timer *t);

static void set_clock(co_usec now)
{
    co_usec wait = is_quiet() ? co_to_second(QUIET_PERIOD, now) : CLOCK_PERIOD;

    co_timer_set(&clock_timer, now + wait, on_clock);
}

static void end_quiet(void)
{
    quiet.calm = 0;
    atomic_store(&quiet.now, false);
    if (quiet.on_end)
        quiet.on_end();
}

void co_rouse(void)
{
    quiet.calm = 0;
    if (!is_quiet())
        return;
    end_quiet();
    set_clock(co_clock());
}

const atomic_bool *ticker_quiet(void)
{
    return &quiet.now;
}

void ticker_on_rouse(void (*fn)(void))
{
    quiet.on_end = fn;
}

/* Updates the quiet state. The clock timer itself costs two switches: to the ticker and back. */
static void note_quiet(co_usec now)
{
    unsigned long others = st_switch_count - quiet.switches;

    quiet.wakes++;
    if (now - quiet.since < QUIET_PERIOD)
        return;
    others -= others < 2ul * quiet.wakes ? others : 2ul * quiet.wakes;
    quiet.calm = others < QUIET_SWITCHES ? quiet.calm + 1 : 0;
    if (quiet.calm >= QUIET_SECONDS)
        atomic_store(&quiet.now, true);
    else if (is_quiet() && others >= LOUD_SWITCHES)
        end_quiet();
    quiet.since = now;
    quiet.wakes = 0;
    quiet.switches = st_switch_count;
}

/* Measures how busy the thread is, by the actual distance of two wake-ups that should be 20 ms
 * apart. */
static void on_clock(struct co_timer *t)
{
    static const int64_t limits[8] = { 15, 20, 25, 30, 35, 40, 80, 160 };
    co_usec now = co_clock(), late = now - t->due;
    size_t i = 0;

    while (i < 8 && (late + CLOCK_PERIOD) / 1000 > limits[i])
        i++;
    lateness.counts[i]++;
    if (late > 0)
        lateness.sum += late;
    fit_slice(late);
    sample_load(now);
    note_quiet(now);
    set_clock(now);
}

void co_lateness(struct co_lateness *out)
{
    *out = lateness;
}

err_t ticker_start(void)
{
    slots = must(calloc(SLOTS, sizeof(struct co_timer *)));
    turned = co_clock() / TICK;
    planned = INT64_MAX;
    moved = st_cond_new();
    if (!moved || !st_thread_create(ticker, NULL, 0, 64 * 1024))
        return err_sys(ERR_SYSTEM, "start the ticker");
    load.sampled_at = co_clock();
    load.used = thread_time();
    set_clock(co_clock());
    return NULL;
}

/* Cancels all timers and tasks without calling them. */
static void cancel_all(void)
{
    for (size_t i = 0; i < SLOTS; i++) {
        while (slots[i])
            co_timer_cancel(slots[i]);
    }
    while (tasks)
        co_post_cancel(tasks);
    memset(in_use, 0, sizeof(in_use));
}

void ticker_end(void)
{
    ending = true;
    (void)st_cond_signal(moved);
    while (ending)
        (void)st_usleep(0);
    cancel_all();
    (void)st_cond_destroy(moved);
    moved = NULL;
    free(slots);
    slots = NULL;
    atomic_store(&quiet.now, false);
}
