/* SPDX-License-Identifier: MIT */
/* co.c - coroutines in groups, over state-threads.
 *
 * All waiting is parking: a parked coroutine waits on one condition variable that is never
 * signalled, and unparking is a state-threads interrupt. So there is one place to stop at, and
 * sockets, timers and queues use nothing of state-threads but the wake-up.
 */
#include "co/co.h"

#include "base/container_of.h"
#include "base/list.h"
#include "base/log.h"
#include "co/stalls.h"
#include "co/sched_stats.h"
#include "co/ticker.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <st.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { CO_CID_SIZE = 8 };

struct co {
    struct co *next, **prev; /* in the group */
    struct co_group *group;
    const char *name;
    co_fn *fn;
    void *arg;
    st_thread_t thread;
    struct co_timer timer; /* may be set longer than the wait lasts, see co_park() */
    co_usec deadline;      /* end of the current park, or CO_FOREVER */
    bool parked, woken, timed_out;
    bool stop;  /* waits end; co_stop_hold() clears it for a while */
    bool asked; /* co_stop() was called */
    unsigned waits;
    unsigned yielded_at; /* value of `waits` at its last yield */
    char cid[CO_CID_SIZE + 1];
    struct log_budget lines;
    err_t why;                /* reason for the stop; NULL: ERR_STOPPED */
    struct co_deadline *over; /* deadlines that have passed, the first one first */
};

enum { STACK_SIZE = 64 * 1024, STACK_DEEP = 256 * 1024 };

/* The running coroutine. A global name on purpose: debuggers and the watchdog read it. */
_Thread_local struct co *co_current;

static _Thread_local struct co primordial = { .name = "main" };
/* Runs timers and tasks, and never parks. */
static _Thread_local struct co ticker = { .name = "ticker" };
static _Thread_local st_cond_t never;
static _Thread_local long live;
static _Thread_local uint64_t cids; /* state of the id generator */

/* For debuggers, which cannot read thread-local variables on every machine. */
struct co_view {
    struct co_view *next;
    unsigned number; /* see co_set_number() */
    int tid;         /* the system's id of the thread */
    const struct co *primordial;
    const void *stacks; /* _st_clist_t: all stacks in use */
};
struct co_view *co_views;
static pthread_mutex_t views_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint views; /* number of views */
static _Thread_local struct co_view view;

static void show(void)
{
    view = (struct co_view){ .primordial = &primordial, .stacks = st_thread_stacks(),
                             .tid = gettid() };
    (void)pthread_mutex_lock(&views_lock);
    view.next = co_views;
    co_views = &view;
    atomic_fetch_add(&views, 1);
    (void)pthread_mutex_unlock(&views_lock);
}

static void hide(void)
{
    struct co_view **at = &co_views;

    (void)pthread_mutex_lock(&views_lock);
    while (*at != &view)
        at = &(*at)->next;
    *at = view.next;
    atomic_fetch_sub(&views, 1);
    (void)pthread_mutex_unlock(&views_lock);
}

static void seed_cids(void)
{
    if (getrandom(&cids, sizeof(cids), GRND_NONBLOCK) != sizeof(cids) || !cids)
        cids = (uint64_t)co_clock() * 2654435761u ^ (uint64_t)getpid() << 32;
}

err_t co_init(void)
{
    if (co_current)
        return NULL;
    st_switched_at = (st_utime_t)co_clock();
    if (st_set_eventsys(ST_EVENTSYS_ALT) < 0 || st_init() < 0)
        return err_sys(ERR_SYSTEM, "start state-threads");
    never = st_cond_new();
    primordial.thread = st_thread_self();
    co_current = &primordial;
    seed_cids();
    show();
    return ticker_start();
}

void co_fini(void)
{
    int rc;

    assert(co_current == &primordial && live == 0);
    co_timer_cancel(&primordial.timer);
    co_stalls_stop();
    ticker_end();
    hide();
    (void)st_cond_destroy(never);
    rc = st_end();
    assert(rc == 0); /* otherwise a descriptor is open */
    st_switched_at = 0;
    log_forget(&primordial.lines);
    err_free(&primordial.why);
    primordial = (struct co){ .name = "main" };
    co_current = NULL;
}

void co_ticker_runs(void)
{
    co_current = &ticker;
}

void co_set_number(unsigned n)
{
    view.number = n;
}

int co_number(void)
{
    return primordial.thread ? (int)view.number : -1;
}

unsigned co_schedulers(void)
{
    return atomic_load(&views);
}

void co_group_init(struct co_group *g)
{
    *g = (struct co_group){ 0 };
}

static void join(struct co_group *g, struct co *co)
{
    LIST_PUT(&g->head, co);
    g->count++;
}

static void leave(struct co *co)
{
    struct co_group *g = co->group;

    LIST_TAKE(co);
    g->count--;
    if (g->waiter)
        co_unpark(g->waiter);
}

static void *run(void *arg)
{
    struct co *co = arg;
    struct co_group *g = co->group;
    err_t err;

    co_current = co;
    err = co->fn(co->arg);
    if (err && !g->first)
        g->first = err_wrap(err, "%s", co->name);
    else
        err_free(&err);
    co_timer_cancel(&co->timer);
    co_stalls_end(); /* while its name is valid and it may log */
    log_forget(&co->lines);
    err_free(&co->why);
    leave(co);
    live--;
    co_current = NULL;
    free(co);
    return NULL;
}

/* Gives it a separate bucket of log lines, charged to the same address. */
static void inherit_budget(struct co *co)
{
    if (!co_current)
        return;
    co->lines = co_current->lines;
    co->lines.full_at = 0;
    co->lines.left_out = 0;
}

static err_t go(struct co_group *g, const char *name, co_fn *fn, void *arg, int stack)
{
    struct co *co;

    if (g->stopping)
        return err_new(ERR_STOPPED, "no new %s", name);
    co = calloc(1, sizeof(*co));
    if (!co)
        return err_new(ERR_NO_MEMORY, "%s", name);
    *co = (struct co){ .group = g, .name = name, .fn = fn, .arg = arg };
    memcpy(co->cid, co_cid(), strlen(co_cid()));
    inherit_budget(co);
    co->thread = st_thread_create(run, co, 0, stack);
    if (!co->thread) {
        free(co);
        return err_sys(ERR_SYSTEM, "no stack for %s (see vm.max_map_count)", name);
    }
    join(g, co);
    live++;
    co_rouse();
    return NULL;
}

err_t co_go(struct co_group *g, const char *name, co_fn *fn, void *arg)
{
    return go(g, name, fn, arg, STACK_SIZE);
}

err_t co_go_deep(struct co_group *g, const char *name, co_fn *fn, void *arg)
{
    return go(g, name, fn, arg, STACK_DEEP);
}

err_t co_group_wait(struct co_group *g)
{
    err_t err;

    g->waiter = co_current;
    while (g->count > 0) {
        /* Members still use g, so the wait continues even if the caller was asked to stop. */
        bool stop = co_stop_hold();

        stop |= co_park(CO_FOREVER) == CO_STOPPED;
        co_stop_resume(stop);
    }
    g->waiter = NULL;
    err = g->first;
    g->first = NULL;
    return err;
}

void co_group_interrupt(struct co_group *g)
{
    g->stopping = true;
    for (struct co *co = g->head; co; co = co->next)
        co_stop(co, NULL);
}

err_t co_group_stop(struct co_group *g)
{
    co_group_interrupt(g);
    return co_group_wait(g);
}

void co_stop(struct co *co, err_t why)
{
    if (co->asked)
        err_free(&why);
    else
        co->why = why;
    co->asked = co->stop = true;
    co_unpark(co);
}

err_t co_stop_why(void)
{
    const struct co *me = co_current;
    const struct co_deadline *d = me ? me->over : NULL;

    if (d)
        return err_new_at(d->file, d->line, d->func, d->code, 0, "%s in %lld ms", d->text,
                          us_to_ms(d->after));
    return me && me->why ? err_copy(me->why) : err_new(ERR_STOPPED, "%s", co_name());
}

bool co_stop_asked(void)
{
    return co_current && co_current->stop;
}

err_t co_check(void)
{
    return co_current->stop ? co_stop_why() : NULL;
}

bool co_stop_hold(void)
{
    bool stop = co_current->stop;

    co_current->stop = false;
    return stop;
}

void co_stop_resume(bool held)
{
    co_current->stop |= held && (co_current->asked || co_current->over);
}

bool co_stop_forget(void)
{
    struct co *me = co_current;

    if (me->asked && !(me->group && me->group->stopping)) {
        err_free(&me->why);
        me->asked = false;
        me->stop = me->over != NULL;
    }
    return !me->stop;
}

void co_unpark(struct co *co)
{
    if (co->woken)
        return;
    co->woken = true;
    if (co->parked)
        st_thread_interrupt(co->thread);
}

static void on_timer(struct co_timer *t)
{
    struct co *co = container_of(t, struct co, timer);

    if (!co->parked || co->deadline == CO_FOREVER)
        return;
    if (co_now() < co->deadline) {
        co_timer_set(t, co->deadline, on_timer);
    } else if (!co->woken) {
        co->timed_out = true;
        co_unpark(co);
    }
}

/* Keeps a timer that is set and not too late: a reader that waits up to 5 s for each of 70 messages
 * a second moves it once in 5 s, not 70 times a second. */
static void arm(struct co *me, co_usec timeout)
{
    me->deadline = timeout == CO_FOREVER ? CO_FOREVER : co_now() + timeout;
    if (me->deadline != CO_FOREVER && (!me->timer.prev || me->timer.due > me->deadline))
        co_timer_set(&me->timer, me->deadline, on_timer);
}

enum co_wake co_park(co_usec timeout)
{
    struct co *me = co_current;

    if (!me->woken && !me->stop && timeout != 0) {
        arm(me, timeout);
        me->parked = true;
        me->timed_out = false;
        me->waits++;
        while (!me->woken)
            (void)st_cond_wait(never);
        me->parked = false;
        co_current = me;
    } else {
        me->timed_out = !me->woken;
    }
    me->woken = false;
    if (me->stop)
        return CO_STOPPED;
    return me->timed_out ? CO_TIMEOUT : CO_WOKEN;
}

err_t co_sleep(co_usec t)
{
    co_usec until = co_now() + t;
    bool woken = false;

    for (co_usec left = t; left > 0 && !co_current->stop; left = until - co_now())
        woken |= co_park(left) == CO_WOKEN;
    if (woken)
        co_unpark(co_current); /* the wake-up was for the next wait, not for this one */
    return co_check();
}

void co_yield(void)
{
    struct co *me = co_current;

    if (me->yielded_at == me->waits) {
        st_step_back();
    } else { /* the slice may be over because the machine did not run us */
        me->yielded_at = me->waits;
        (void)st_usleep(0);
    }
    co_current = me;
}

void co_urgent(bool is)
{
    st_urgent(is);
}

struct co *co_self(void)
{
    return co_current;
}

const char *co_name(void)
{
    return co_current ? co_current->name : "";
}

const char *co_cid(void)
{
    return co_current ? co_current->cid : "";
}

void co_new_cid(void)
{
    static const char set[] = "0123456789abcdefghijklmnopqrstuvwxyz";

    for (int i = 0; i < CO_CID_SIZE; i++) { /* an id, not a secret: xorshift64 is sufficient */
        cids ^= cids << 13;
        cids ^= cids >> 7;
        cids ^= cids << 17;
        co_current->cid[i] = set[(cids >> 20) % (sizeof(set) - 1)];
    }
}

struct co_cid co_swap_cid(const char *cid)
{
    struct co_cid old;

    (void)snprintf(old.text, sizeof(old.text), "%s", co_cid());
    co_set_cid(cid);
    return old;
}

void co_set_cid(const char *cid)
{
    size_t n = strnlen(cid, CO_CID_SIZE);

    memcpy(co_current->cid, cid, n);
    co_current->cid[n] = '\0';
}

void co_log_as(enum log_source source)
{
    co_current->lines.source = source;
}

void co_log_as_client(const char *address, unsigned times)
{
    co_current->lines.source = LOG_CLIENT;
    log_budget_from(&co_current->lines, address, times);
}

struct log_budget *co_log_budget(void)
{
    return co_current ? &co_current->lines : NULL;
}

co_usec co_clock(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

int64_t co_wall_ms(void)
{
    return us_to_ms(clock_us(CLOCK_REALTIME));
}

bool co_slice_over(void)
{
    return co_clock() - co_now() >= ticker_slice();
}

void co_yield_if_due(void)
{
    if (co_current && co_slice_over())
        co_yield();
}

void co_stack_trim(void)
{
    const size_t page = 4096;
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
    uintptr_t low, end;
    void *base;
    size_t size;

    if (co_current == &primordial || st_thread_stack(co_current->thread, &base, &size) < 0)
        return;
    low = ((uintptr_t)base + page - 1) & ~(page - 1);
    end = (sp - 512) & ~(page - 1); /* keep the red zone and the call below */
    if (end > low)
        (void)madvise((void *)low, end - low, MADV_DONTNEED);
}

_Static_assert((int)CO_PREFETCH == (int)ST_NEAR, "one is the other");

void co_prefetch(unsigned n, const void *p, size_t size)
{
    if (co_current && n < CO_PREFETCH)
        st_near((int)n, p, size);
}

unsigned co_waits(void)
{
    return co_current ? co_current->waits : 0;
}

long co_live(void)
{
    return live;
}

bool co_is_idle(void)
{
    return st_in_idle;
}

unsigned long co_switches(void)
{
    return st_switch_count;
}

void co_sched_stats(struct co_sched_stats *out)
{
    *out = (struct co_sched_stats){ &st_switch_count, &st_look_count, &st_in_idle,
                              ticker_quiet() };
}

/* ---- deadlines */

static void on_passed(struct co_timer *t)
{
    struct co_deadline *d = (struct co_deadline *)(void *)t;
    struct co_deadline **at = &d->co->over;

    while (*at)
        at = &(*at)->next;
    *at = d;
    d->next = NULL;
    d->passed = true;
    d->co->stop = true;
    /* otherwise its next wait sees the stop, and no wake-up may remain for the one after that */
    if (d->co->parked)
        co_unpark(d->co);
}

void co_deadline_set_at(struct co_deadline *d, co_usec after, enum err_code code,
                        const char *text, const char *file, int line, const char *func)
{
    co_deadline_cancel(d);
    d->co = co_self();
    d->code = code;
    d->after = after;
    d->text = text;
    d->file = file;
    d->line = line;
    d->func = func;
    if (after > 0)
        co_timer_set(&d->timer, co_now() + after, on_passed);
}

void co_deadline_cancel(struct co_deadline *d)
{
    co_timer_cancel(&d->timer);
    if (!d->passed)
        return;
    LIST_CUT(&d->co->over, d);
    d->passed = false;
    if (!d->co->over && !d->co->asked)
        d->co->stop = false;
}
