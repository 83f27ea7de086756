/* SPDX-License-Identifier: MIT */
/* co.h - coroutines in groups, over state-threads.
 *
 * Every coroutine belongs to a group and ends before the group does. A connection that needs a
 * second coroutine makes a group on its own stack. State-threads forgets an interrupt once one call
 * has returned EINTR; co_check() does not, so loops call it once a turn. Each stop has a reason:
 * the caller of co_stop() gives one, and so does a deadline (below).
 *
 * Functions marked "yields" let other coroutines run before they return: pointers into shared
 * tables are stale afterwards.
 */
#ifndef CO_CO_H
#define CO_CO_H

#include "base/err.h"
#include "base/log_budget.h"
#include "base/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t co_usec; /* microseconds; times are of CLOCK_MONOTONIC */
#define CO_MS(n) ((co_usec)(n) * 1000)
#define CO_SECONDS(n) ((co_usec)(n) * 1000000)
#define CO_FOREVER ((co_usec)-1)

struct co; /* a coroutine; owned by its group, freed when its function has returned */

struct co_group {
    struct co *head;
    int count;
    bool stopping;
    struct co *waiter; /* the coroutine that waits for members to end */
    err_t first;       /* the first error that a member returned */
};

typedef err_t co_fn(void *arg);

/* Creates the scheduler of the calling thread. Call it once per thread, before anything else here
 * and after any fork. The schedulers of several threads share no mutable state, and a coroutine
 * never changes its thread. All functions of co/ are for that thread only unless their comment says
 * otherwise. */
err_t co_init(void);
/* Ends the scheduler of the calling thread, outside of any group; the thread may end afterwards, or
 * create another scheduler. All its coroutines must have ended and its descriptors must be closed;
 * timers and tasks are cancelled. */
void co_fini(void);
/* Sets the number of this scheduler in the process, for reports that cover several; 0 until it is
 * set. */
void co_set_number(unsigned n);
/* co_number() returns the number of the calling thread's scheduler, -1 if it has none;
 * co_schedulers() how many there are. Any thread, any signal handler. */
int      co_number(void);
unsigned co_schedulers(void);

void co_group_init(struct co_group *g);
/* Runs fn(arg) in a new member of g, on a stack of co_stack_size, with the cid of the caller. The
 * group keeps the first error that a member returns and frees the others. If co_go fails, the
 * caller still owns arg. `name` must stay valid (a literal). */
err_t co_go(struct co_group *g, const char *name, co_fn *fn, void *arg)
    __attribute__((warn_unused_result));
/* Same on a stack of 256 KB, of which only touched pages cost memory: for libraries that need a
 * deep stack. */
err_t co_go_deep(struct co_group *g, const char *name, co_fn *fn, void *arg)
    __attribute__((warn_unused_result));
/* The member that co_go() made last; it can be stopped even before it runs. */
static inline struct co *co_newest(const struct co_group *g)
{
    return g->head;
}
/* Asks all members to stop (ERR_STOPPED), without waiting. */
void co_group_interrupt(struct co_group *g);
/* Asks all members to stop, waits until they have ended, and returns the first error. Yields. */
err_t co_group_stop(struct co_group *g) __attribute__((warn_unused_result));
/* Waits until all members have ended by themselves, and returns the first error. Yields. */
err_t co_group_wait(struct co_group *g) __attribute__((warn_unused_result));

/* Returns the reason if the calling coroutine was asked to stop, NULL otherwise: see co_stop().
 * Does not yield. */
err_t co_check(void) __attribute__((warn_unused_result));
/* Sleeps. Returns the reason like co_check() if asked to stop before or during the sleep.
 * Yields. */
err_t co_sleep(co_usec t) __attribute__((warn_unused_result));
/* Shortens t (a second or more) so that the wait ends at a full second of the clock: periodic
 * checks then run together and wake an idle thread once for all. */
static inline co_usec co_to_second(co_usec t, co_usec now) { return t - now % CO_SECONDS(1); }
/* Lets others run. A coroutine that calls this again without having waited in between runs after
 * all others, but gets at least a fifth of the time. Yields. */
void  co_yield(void);

/* Marks the calling coroutine urgent: from its next turn on it runs before those that are not,
 * because many clients depend on it. The others get at least a third of the time. For players, for
 * publishers with players, and for coroutines that forward their packets; timers are always urgent.
 * Does not yield. */
void co_urgent(bool is);

/* Lets others run once the caller has run for a millisecond since it last waited, or for less while
 * many coroutines are busy. Call it once a round in every loop that may take long; reads and writes
 * do it automatically. Yields.
 *
 * Between two coroutines the scheduler polls for events and timers every millisecond, regardless of
 * what is runnable: coroutines that keep waking each other delay no timer and no other socket.
 */
void co_yield_if_due(void);
bool co_slice_over(void); /* whether co_yield_if_due() would yield; does not yield */

/* Asks one coroutine to stop and gives the reason: its waits end, and from now on they and
 * co_check() return a copy of `why` with its trace. Takes over `why`; NULL means ERR_STOPPED, a
 * stop by the coroutine's owner. The first reason stays, later ones are freed.
 *
 *     co_stop(session->co, err_new(ERR_KICKED, "%s", ip));
 *
 * So a wait of a stopped coroutine may return any code, not just ERR_STOPPED: a loop that retries
 * after errors must call co_stop_asked(). For timeouts see deadlines below. */
void co_stop(struct co *co, err_t why);
bool co_stop_asked(void); /* whether the calling coroutine was asked to stop */
/* Returns the reason after CO_STOPPED, never NULL; use it as return err_wrap(co_stop_why(), "in
 * read"). */
err_t co_stop_why(void) __attribute__((warn_unused_result));

/* For a stopped coroutine that has bounded cleanup to do: between hold and resume its waits ignore
 * the stop. hold returns whether a stop was pending; combine several results with | for one resume.
 * Another stop in between gives CO_STOPPED again, once. */
bool co_stop_hold(void);
void co_stop_resume(bool held);
/* Cancels the stop of the calling coroutine, which then continues with something else. Returns
 * false if it cannot: a stop of the whole group stays, and so does that of a deadline. */
bool co_stop_forget(void);

/* Parking: waits until another coroutine unparks the caller. The base of all queues in live/ and
 * above. */
enum co_wake { CO_WOKEN, CO_TIMEOUT, CO_STOPPED };
enum co_wake co_park(co_usec timeout) __attribute__((warn_unused_result)); /* yields */
/* Makes a parked coroutine runnable (it runs later, not now). If it is not parked yet, its next
 * co_park() returns at once, so no wake-up is lost. */
void co_unpark(struct co *co);

struct co  *co_self(void); /* NULL outside of any group */
const char *co_name(void);
/* The 8 characters in this coroutine's log lines; "" outside of any. */
const char *co_cid(void);
void        co_new_cid(void); /* gives the calling coroutine a new random cid */
void        co_set_cid(const char *cid); /* sets the cid, for work on behalf of a client */
struct co_cid { char text[9]; };
struct co_cid co_swap_cid(const char *cid); /* sets the cid and returns the previous one */

/* Sets the log budget that the calling coroutine uses from now on (base/log_budget.h). A new
 * coroutine inherits its creator's budget, so a peer cannot evade its budget by causing new
 * coroutines. */
void co_log_as(enum log_source source);
/* Uses the budget of a client of this address, `times` as large as that of one address. */
void co_log_as_client(const char *address, unsigned times);
struct log_budget *co_log_budget(void); /* NULL outside of any; for struct log_setup */

extern _Thread_local unsigned long long st_switched_at; /* private to the scheduler and co_now() */

co_usec co_clock(void); /* monotonic time */
/* The monotonic time at which the calling coroutine began to run. Costs nothing; use it everywhere
 * except to measure the caller's own work. */
static inline co_usec co_now(void)
{
    return st_switched_at ? (co_usec)st_switched_at : co_clock();
}
int64_t co_wall_ms(void); /* wall clock, since 1970; may jump */

/* Returns to the system the stack pages of the calling coroutine that deep calls (handshakes, log
 * lines) touched and that are not in use now. Call once before a long wait. */
void co_stack_trim(void);

/* Registers memory at p that the calling coroutine uses whenever it continues: it is prefetched
 * into the cache while others run. p is not read, so it may be freed at any time; NULL removes
 * it. */
enum { CO_PREFETCH = 2 };
void co_prefetch(unsigned n, const void *p, size_t size);

unsigned co_waits(void); /* number of waits of the calling coroutine so far */
long co_live(void); /* coroutines alive now: tests assert 0 */
bool co_is_idle(void); /* the scheduler waits in the kernel; for other threads: co/sched_stats.h */
unsigned long co_switches(void); /* coroutine switches of the thread so far */

/* Timers: a hashed wheel of 4 ms ticks, O(1) to set and to cancel, for the many waits that are
 * cancelled or moved before they are due. fn runs on the scheduler's ticker: it must not yield. */
struct co_timer {
    struct co_timer *next, **prev; /* prev is NULL while it is not set */
    co_usec due;
    void (*fn)(struct co_timer *t);
};
void co_timer_set(struct co_timer *t, co_usec due, void (*fn)(struct co_timer *t));
void co_timer_cancel(struct co_timer *t); /* does nothing if it is not set */

/* Work that the scheduler's ticker does soon, after the coroutines that are runnable now: one task
 * combines the requests of many calls. fn must not yield. Posting a task twice has no effect; a
 * task that posts itself again lets others run first. */
struct co_task {
    struct co_task *next;
    void (*fn)(struct co_task *t);
    bool posted;
};
void co_post(struct co_task *t, void (*fn)(struct co_task *t));
void co_post_cancel(struct co_task *t); /* does nothing if it is not posted */

/* Load of this thread in the last second or so, 0..1000 thousandths of a core. */
unsigned co_load(void);

/* Ends the quiet state of the thread. While almost nothing runs the thread is quiet: periodic
 * checks of the time (timer lateness, the watchdog) run only once a second. A new coroutine ends
 * that, too; call this when work is about to arrive. */
void co_rouse(void);

/* Lets events gather for a millisecond even at low load. For load tools: a tool that wakes up for
 * every packet makes the server on the same machine pay for that. */
void co_gather_always(void);

/* How late the ticker woke, since the start: counts of wake-ups that were up to 15, 20, 25, 30, 35,
 * 40, 80, 160 ms apart where 20 ms were requested, and of those above; and the sum of all delays. A
 * quiet thread is sampled once a second, not 50 times. */
struct co_lateness {
    uint64_t counts[9];
    co_usec sum;
};
void co_lateness(struct co_lateness *out);

/* ---- deadlines: a time by which a coroutine must have finished a step, and the error if not.
 *
 *     struct co_deadline d = { 0 };
 *
 *     co_deadline_set(&d, timeout, ERR_IO_TIMEOUT, "no handshake");
 *     err = handshake(c);         one read or a hundred, each with its own timeout
 *     co_deadline_cancel(&d);     always, before d goes out of scope and before the coroutine ends
 *
 * When it passes, the coroutine is stopped as by co_stop(): its waits end, and they and co_check()
 * return "no handshake in 5000 ms". Cancelling a deadline that has passed also cancels its stop, so
 * a step that finished just in time succeeds and the coroutine can continue. Other stops stay.
 * Nothing is allocated until the error is requested.
 */

struct co_deadline { /* zeroed: not set */
    struct co_timer timer;
    struct co *co;
    struct co_deadline *next; /* next deadline that passed */
    bool passed;
    enum err_code code;
    co_usec after;
    const char *text;
    const char *file, *func; /* where it was set, for the trace */
    int line;
};

/* Sets a deadline for the calling coroutine, starting now; cancels it first if it is set. `text`
 * must stay valid (a literal). 0 or CO_FOREVER: no deadline. */
#define co_deadline_set(d, after, code, text) \
    co_deadline_set_at(d, after, code, text, __FILE__, __LINE__, __func__)
void co_deadline_set_at(struct co_deadline *d, co_usec after, enum err_code code,
                        const char *text, const char *file, int line, const char *func);
void co_deadline_cancel(struct co_deadline *d); /* does nothing if it is not set */

#endif
