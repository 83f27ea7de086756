/* SPDX-License-Identifier: MIT */
/* co.h - coroutines in groups, over state-threads.
 *
 * Every coroutine belongs to a group and ends before the group does. A connection that needs a
 * second coroutine makes a group on its own stack. State-threads forgets an interrupt once one
 * call has returned EINTR; co_check() does not, so loops ask it once a turn. An end has a reason:
 * who stops a coroutine says why (co_stop), and so does a deadline (below).
 *
 * Anything here that is marked "yields" lets other coroutines run before it returns: pointers
 * into shared tables are stale afterwards.
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

struct co; /* a coroutine; owned by its group, gone when its function has returned */

struct co_group {
    struct co *head;
    int count;
    bool stopping;
    struct co *waiter; /* who waits for members to end */
    err_t first;       /* the first error a member ended by */
};

typedef err_t co_fn(void *arg);

/* Once per thread that runs coroutines, before anything else here, after any fork. Each such thread
 * has a scheduler of its own: they share nothing that changes, and a coroutine never changes its
 * thread. All of co/ is for that thread alone, unless it says otherwise. */
err_t co_init(void);
/* End the scheduler of the thread that calls, outside of any group: the thread may end then, or
 * begin another one. No coroutine is left of it and no descriptor is open there; timers and tasks
 * are cancelled. */
void co_fini(void);
/* Which of the schedulers of the process it is, for what tells of several: 0 until it is set. */
void co_set_number(unsigned n);
/* Any thread, any signal handler: that of the thread that calls, -1 if it has none; and how many
 * there are now. */
int      co_number(void);
unsigned co_schedulers(void);

void co_group_init(struct co_group *g);
/* Run fn(arg) in a new member of g, on a stack of co_stack_size. It carries the cid of the
 * caller. What fn returns ends there: the group keeps the first error and frees the rest. If
 * co_go fails, arg is still the caller's. `name` must stay valid (a literal). */
err_t co_go(struct co_group *g, const char *name, co_fn *fn, void *arg)
    __attribute__((warn_unused_result));
/* The same on a stack of 256 KB, of which what is touched costs memory: for who calls libraries
 * that need it. */
err_t co_go_deep(struct co_group *g, const char *name, co_fn *fn, void *arg)
    __attribute__((warn_unused_result));
/* The member that co_go() made last: who keeps it may stop it even before it runs. */
static inline struct co *co_newest(const struct co_group *g)
{
    return g->head;
}
/* Ask all members to stop (ERR_STOPPED), without waiting. */
void co_group_interrupt(struct co_group *g);
/* Ask all members to stop, wait until they are gone, hand over the first error. Yields. */
err_t co_group_stop(struct co_group *g) __attribute__((warn_unused_result));
/* The same without asking: wait until all members ended by themselves. Yields. */
err_t co_group_wait(struct co_group *g) __attribute__((warn_unused_result));

/* Why the coroutine that calls was asked to stop, once it was: see co_stop(). Does not yield. */
err_t co_check(void) __attribute__((warn_unused_result));
/* Yields. As co_check() when asked to stop, before or while it sleeps. */
err_t co_sleep(co_usec t) __attribute__((warn_unused_result));
/* Nearly t (a second or more), so that it ends with a second of the clock: what only looks now and
 * then looks together, and wakes an idle thread once for all of it. */
static inline co_usec co_to_second(co_usec t, co_usec now) { return t - now % CO_SECONDS(1); }
/* Let others run. A coroutine that does so again without having waited in between runs after all
 * others; it gets a fifth of the time at least. */
void  co_yield(void);

/* From its next turn on the calling coroutine runs before those that are not urgent, because many
 * clients wait for what it does. The others get at least a third of the time. For players, for
 * publishers with players, and for coroutines that pass on their packets; timers are always urgent.
 * Does not yield. */
void co_urgent(bool is);

/* The thread is everybody's: who has run for a millisecond since it waited lets others run, sooner
 * while so many have so much to do that they wait for long. For every loop that may last, once a
 * round; reads and writes do it by themselves. Yields.
 *
 * Between two coroutines the scheduler looks for events and timers every millisecond, whatever can
 * run: coroutines that wake each other without end hold up no timer and no other socket. */
void co_yield_if_due(void);
bool co_slice_over(void); /* is it time to? Does not yield */

/* Ask one coroutine to stop, and say why: its waits end, and from now on they and co_check() give a
 * copy of `why` with its trace, so it needs no flag to tell later what ended it. Takes `why` over;
 * NULL stands for ERR_STOPPED, "somebody who looks after it wants it to end". The first reason
 * stays, those of who asks later are freed.
 *
 *     co_stop(session->co, err_new(ERR_KICKED, "%s", ip));
 *
 * So the error of a wait says what it is to say, and nobody may take ERR_STOPPED for the only code
 * of a stop: who retries after errors asks co_stop_asked(). For "it took too long" see
 * deadlines below. */
void co_stop(struct co *co, err_t why);
bool co_stop_asked(void); /* was the coroutine that calls? */
/* For who got CO_STOPPED: why, never NULL; return err_wrap(co_stop_why(), "in read"). */
err_t co_stop_why(void) __attribute__((warn_unused_result));

/* For who was asked to stop and has something to end that takes a bounded time: from hold to resume
 * it waits as if nobody had asked. hold says whether somebody had; more than one may be put
 * together (with |) for one resume. Who is asked once more meanwhile has CO_STOPPED again, once. */
bool co_stop_hold(void);
void co_stop_resume(bool held);
/* Whoever asked meant what the coroutine was doing, not the coroutine: it goes on with something
 * else. False: it does not, a stop of its whole group stays, and what its deadline says. */
bool co_stop_forget(void);

/* Parking: wait until somebody unparks me. The base of all queues in live/ and above. */
enum co_wake { CO_WOKEN, CO_TIMEOUT, CO_STOPPED };
enum co_wake co_park(co_usec timeout) __attribute__((warn_unused_result)); /* yields */
/* Make a parked coroutine runnable (it runs later, not now). One that is not parked yet keeps the
 * wake for its next co_park(), so a wake is never lost. */
void co_unpark(struct co *co);

struct co  *co_self(void); /* NULL outside of any group */
const char *co_name(void);
/* The 8 characters that this coroutine's log lines carry; "" outside of any. */
const char *co_cid(void);
void        co_new_cid(void); /* give the coroutine that calls a new random one */
void        co_set_cid(const char *cid); /* or that of the client that it works for */
struct co_cid { char text[9]; };
struct co_cid co_swap_cid(const char *cid); /* the same; gives the one of before */

/* Whose log budget the coroutine that calls uses from now on (base/log_budget.h). A new coroutine
 * begins with that of its creator, so a peer cannot escape its budget by causing coroutines. */
void co_log_as(enum log_who who);
/* The budget of a client of this address, so many times that of one address. */
void co_log_as_client(const char *address, unsigned times);
struct log_budget *co_log_budget(void); /* NULL outside of any; for struct log_setup */

extern _Thread_local unsigned long long st_switched_at; /* the scheduler's: for co_now() alone */

co_usec co_clock(void); /* monotonic time */
/* The same, when the coroutine that calls began to run. It costs nothing; for everything that does
 * not measure its own work. */
static inline co_usec co_now(void)
{
    return st_switched_at ? (co_usec)st_switched_at : co_clock();
}
int64_t co_wall_ms(void); /* the wall clock: since 1970, it may jump */

/* Give back to the system the pages of the calling coroutine's stack that deep calls (handshakes,
 * log lines) touched and that it does not use now. Call once before a long wait. */
void co_stack_trim(void);

/* The coroutine that calls touches so much at p whenever it goes on: it is fetched into the cache
 * while others run. p is not read, so it may be freed at any time; NULL takes it back. */
enum { CO_PREFETCH = 2 };
void co_prefetch(unsigned n, const void *p, size_t size);

unsigned co_waits(void); /* how often the coroutine that calls has waited so far */
long co_live(void); /* coroutines alive now: tests assert 0 */
bool co_is_idle(void); /* the scheduler waits in the kernel; for other threads: co/sched_stats.h */
unsigned long co_switches(void); /* of the thread from one to another, so far */

/* Timers: a hashed wheel of 4 ms ticks, O(1) to set and to cancel, for the many waits that are
 * cancelled or moved before they are due. fn runs on the scheduler's ticker: it must not yield. */
struct co_timer {
    struct co_timer *next, **prev; /* prev is NULL while it is not set */
    co_usec due;
    void (*fn)(struct co_timer *t);
};
void co_timer_set(struct co_timer *t, co_usec due, void (*fn)(struct co_timer *t));
void co_timer_cancel(struct co_timer *t); /* nothing happens if it is not set */

/* Work to do soon, by the scheduler's ticker, once those coroutines have run that can run now: one
 * task gathers what many calls ask for. fn must not yield. Posting one that waits already does
 * nothing; one that posts itself again lets others run first. */
struct co_task {
    struct co_task *next;
    void (*fn)(struct co_task *t);
    bool posted;
};
void co_post(struct co_task *t, void (*fn)(struct co_task *t));
void co_post_cancel(struct co_task *t); /* fine if it is not posted */

/* How busy this thread was in the last second or so: 0..1000 thousandths of a core. */
unsigned co_load(void);

/* While next to nothing runs, the thread is quiet: what looks at the time often, to know how late
 * timers are and who has the thread, does so once a second. A coroutine that begins ends that, and
 * so does who knows that there will be work. */
void co_rouse(void);

/* Let events gather for a millisecond also while the thread has little to do. For load tools: one
 * that is woken for every packet makes the server on the same machine pay for its wakes. */
void co_gather_always(void);

/* How late the ticker woke, since the start: counts of wakes that were up to 15, 20, 25, 30, 35,
 * 40, 80, 160 ms apart where 20 ms were asked for, and of those that were later still; and how late
 * all of them were together. A quiet thread is asked once a second, not 50 times. */
struct co_lateness {
    uint64_t counts[9];
    co_usec sum;
};
void co_lateness(struct co_lateness *out);

/* ---- a time by which a coroutine must be through with something, and the error if not.
 *
 *     struct co_deadline d = { 0 };
 *
 *     co_deadline_set(&d, timeout, ERR_IO_TIMEOUT, "no handshake");
 *     err = shake_hands(c);       one read or a hundred, each with a timeout of its own
 *     co_deadline_cancel(&d);     always, before d goes and before the coroutine ends
 *
 * When it passes, the coroutine is stopped as by co_stop(): its waits end, and they and co_check()
 * give "no handshake in 5000 ms". Cancelled, it stops nobody: one that passed takes its stop along,
 * so what was ready by a hair is ready, and who was told may go on with something else. Stops of
 * others stay. Nothing is allocated until somebody asks for the error.
 */

struct co_deadline { /* zeroed: not set */
    struct co_timer timer;
    struct co *co;
    struct co_deadline *next; /* of those that passed */
    bool passed;
    enum err_code code;
    co_usec after;
    const char *text;
    const char *file, *func; /* where it was set, for the trace */
    int line;
};

/* For the coroutine that calls, from now on; `text` must stay valid (a literal). One that is set is
 * cancelled first. 0 or CO_FOREVER: no deadline. */
#define co_deadline_set(d, after, code, text) \
    co_deadline_set_at(d, after, code, text, __FILE__, __LINE__, __func__)
void co_deadline_set_at(struct co_deadline *d, co_usec after, enum err_code code,
                        const char *text, const char *file, int line, const char *func);
void co_deadline_cancel(struct co_deadline *d); /* nothing happens if it is not set */

#endif
