/* SPDX-License-Identifier: MIT */
/* switch.c - choose the next thread and go there, telling the tools that follow stacks. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

#ifdef ST_ASAN
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#ifdef ST_TSAN
#include <sanitizer/tsan_interface.h>
#endif

/* Bytes of a cache line; of a stack, that are touched around where its thread stopped. */
enum { LINE = 64, BELOW = 256, ABOVE = 512 };

_Thread_local volatile unsigned long st_switch_count;
_Thread_local st_utime_t st_switched_at;
_Thread_local st_utime_t st_held_least;
_Thread_local void (*st_on_held)(st_utime_t ran);

_Thread_local int _st_ending;

void _st_context_switch(void **save, void *to);
void _st_context_entry(void);

#ifdef ST_ASAN

static _Thread_local const void *first_base; /* the stack that the thread began on */
static _Thread_local size_t first_size;

static void before_switch(_st_thread_t *to, void **fake_stack)
{
    const void *base = to->stack ? to->stack->stk_bottom : first_base;
    size_t size = to->stack ? (size_t)to->stack->stk_size : first_size;

    __sanitizer_start_switch_fiber(fake_stack, base, size);
}

static void after_switch(void *fake_stack)
{
    __sanitizer_finish_switch_fiber(fake_stack, NULL, NULL);
}

/* While another thread runs, the leak checker does not look at the first stack by itself. */
void _st_context_primordial(void)
{
    pthread_attr_t attr;
    void *base;

    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        abort();
    pthread_attr_getstack(&attr, &base, &first_size);
    pthread_attr_destroy(&attr);
    first_base = base;
    __lsan_register_root_region(first_base, first_size);
}

static void forget_primordial(void)
{
    __lsan_unregister_root_region(first_base, first_size);
}

#elif defined(ST_TSAN)

/* ThreadSanitizer takes each of our threads for one of its own (a fiber), with its own call stack in
 * reports; a switch orders what was before it and what comes after. Nothing of this file is
 * instrumented: what it enters on one fiber it leaves on another. */
static _Thread_local void *ended; /* it could not destroy itself while it ran */

static void before_switch(_st_thread_t *to, void **fiber)
{
    if (!fiber)
        ended = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(to->fiber, 0);
}

static void after_switch(void *fiber)
{
    (void)fiber;
    if (ended)
        __tsan_destroy_fiber(ended);
    ended = NULL;
}

void _st_context_primordial(void)
{
    _ST_CURRENT_THREAD()->fiber = __tsan_get_current_fiber();
}

static void forget_primordial(void)
{
}

#else

static void before_switch(_st_thread_t *to, void **fake_stack)
{
    (void)to;
    (void)fake_stack;
}

static void after_switch(void *fake_stack)
{
    (void)fake_stack;
}

void _st_context_primordial(void)
{
}

static void forget_primordial(void)
{
}

#endif

/* Called first of all on a new stack. */
void _st_context_started(void)
{
    after_switch(NULL);
}

/* Lay out what _st_context_switch pops: all zero but where to go on. Above it are zeros too, as
 * the return address of the first frame. */
void _st_context_init(_st_thread_t *thread, void *sp)
{
#if defined(__x86_64__)
    enum { WORDS = 7, PC = 6 };
#else
    enum { WORDS = 20, PC = 11 };
#endif
    void **top = (void **)((uintptr_t)sp & ~(uintptr_t)15);
    void *entry = NULL;
    void (*fn)(void) = _st_context_entry;

    memcpy(&entry, &fn, sizeof(entry));
    top -= 2;
    top[0] = top[1] = NULL;
    top -= WORDS;
    memset(top, 0, WORDS * sizeof(*top));
    top[PC] = entry;
    thread->context = top;
#ifdef ST_TSAN
    thread->fiber = __tsan_create_fiber(0);
#endif
}

/* The idle thread asks the kernel for events and wakes those whose time has come. It runs when no
 * other thread can, and every LOOK_EVERY microseconds whatever can run: two threads that wake each
 * other for ever keep nobody from hearing of events and timers. */
enum { LOOK_EVERY = 1000 };
static _Thread_local st_utime_t looked_at; /* the end of the last look */

/* Who runs next: those of the first queue that is not empty. So that nobody waits for ever, a queue
 * is owed a part of the time that those above it take while it has somebody: once that is OWED_MOST
 * microseconds, it comes first until it has got them. */
enum queue {
    URGENT, /* what others wait for: st_urgent() */
    USUAL,  /* ST's own run queue */
    BACK,   /* threads that stepped back */
    QUEUES,
    IDLE = QUEUES,
};
enum { OWED_MOST = 5000 };
static const int owed_part[QUEUES] = { [URGENT] = 1, [USUAL] = 2, [BACK] = 4 };

_Thread_local _st_clist_t _st_urgent;
static _Thread_local _st_clist_t back;
static _Thread_local int64_t owed[QUEUES];
static _Thread_local int is_paid[QUEUES]; /* until nothing is owed */
static _Thread_local enum queue from;     /* whose thread runs */

void _st_vp_schedule_init(void)
{
    ST_INIT_CLIST(&_st_urgent);
    ST_INIT_CLIST(&back);
    looked_at = 0;
    memset(owed, 0, sizeof(owed));
    memset(is_paid, 0, sizeof(is_paid));
    from = USUAL;
}

static _st_clist_t *list_of(enum queue q)
{
    return q == URGENT ? &_st_urgent : q == USUAL ? &_ST_RUNQ : &back;
}

static int is_empty(enum queue q)
{
    const _st_clist_t *list = list_of(q);

    return list->next == list;
}

int _st_anybody_can_run(void)
{
    return !is_empty(URGENT) || !is_empty(USUAL) || !is_empty(BACK);
}

/* A thread has run for so long. A turn counts as a slice at most: if it took longer, the machine may
 * have had no time for us. One of the queue itself counts however short it was. */
static void settle(enum queue q, int64_t ran)
{
    if (from == q)
        owed[q] -= ran + 1;
    else if (from < q && !is_empty(q))
        owed[q] += (ran < LOOK_EVERY ? ran : LOOK_EVERY) / owed_part[q];
    if (owed[q] <= 0 || is_empty(q))
        owed[q] = is_paid[q] = 0;
    else if (owed[q] >= OWED_MOST)
        is_paid[q] = 1;
}

void st_step_back(void)
{
    _st_thread_t *me = _ST_CURRENT_THREAD();

    me->state = _ST_ST_RUNNABLE;
    ST_APPEND_LINK(&me->links, &back);
    _ST_SWITCH_CONTEXT(me);
}

void st_urgent(int is)
{
    _st_thread_t *me = _ST_CURRENT_THREAD();

    if (is)
        me->flags |= _ST_FL_URGENT;
    else
        me->flags &= ~_ST_FL_URGENT;
}

void st_near(int n, const void *p, size_t size)
{
    _ST_CURRENT_THREAD()->near[n].at = p;
    _ST_CURRENT_THREAD()->near[n].size = p ? size : 0;
}

/* Inline, or gcc 12 leaves out the call of what has no effect but this. */
__attribute__((always_inline)) static inline void fetch(const char *at, size_t size)
{
    for (size_t i = 0; i < size; i += LINE)
        __builtin_prefetch(at + i, 1);
}

/* Before one that runs is done, which makes a system call at least, all of it is here. */
__attribute__((always_inline)) static inline void fetch_near(const _st_thread_t *thread)
{
    fetch((char *)thread->context - BELOW, BELOW + ABOVE);
    for (int i = 0; i < ST_NEAR; i++)
        fetch(thread->near[i].at, thread->near[i].size);
}

static _st_thread_t *first_of(enum queue q)
{
    _st_thread_t *thread = _ST_THREAD_PTR(list_of(q)->next);

    ST_REMOVE_LINK(&thread->links);
    if (!is_empty(q))
        fetch_near(_ST_THREAD_PTR(list_of(q)->next));
    return thread;
}

static enum queue whose_turn(void)
{
    enum queue q = BACK;

    while (q > URGENT && !is_paid[q])
        q--;
    while (q < QUEUES && is_empty(q))
        q++;
    return q;
}

static _st_thread_t *choose(int is_time_to_look)
{
    from = is_time_to_look ? IDLE : whose_turn();
    return from == IDLE ? _st_this_vp.idle_thread : first_of(from);
}

/* `me` has run until now. The idle thread has just looked. */
static _st_thread_t *next_thread(_st_thread_t *me, st_utime_t now)
{
    _st_thread_t *thread;

    if (me == _st_this_vp.idle_thread)
        looked_at = now;
    for (enum queue q = USUAL; q < QUEUES; q++)
        settle(q, (int64_t)(now - st_switched_at));
    thread = choose(now - looked_at >= LOOK_EVERY);
    if (thread->state != _ST_ST_RUNNABLE)
        abort(); /* linked into two queues: nothing can be trusted any more */
    thread->state = _ST_ST_RUNNING;
    return thread;
}

/* One reading of the clock ends the time of the thread that ran and begins that of the next one. */
static void end_turn(_st_thread_t *me, st_utime_t now)
{
    st_utime_t ran = now - st_switched_at;

    if (st_on_held && ran >= st_held_least && me != _st_this_vp.idle_thread)
        st_on_held(ran);
    st_switched_at = now;
    st_switch_count++;
}

__attribute__((always_inline)) static inline void go_to(_st_thread_t *me, _st_thread_t *to)
{
    _ST_SET_CURRENT_THREAD(to);
    before_switch(to, &me->fiber);
    _st_context_switch(&me->context, to->context);
    after_switch(me->fiber);
}

void _st_vp_schedule(void)
{
    _st_thread_t *me = _ST_CURRENT_THREAD(), *to;
    st_utime_t now = st_utime();

    to = next_thread(me, now);
    if (to == me && me == _st_this_vp.idle_thread)
        return;
    end_turn(me, now);
    if (to != me) /* else nobody else can run */
        go_to(me, to);
}

/* The calling thread has ended: never to return. */
void _st_vp_schedule_last(void)
{
    _st_thread_t *me = _ST_CURRENT_THREAD();
    st_utime_t now = st_utime();
    _st_thread_t *to = next_thread(me, now);

    end_turn(me, now);
    _ST_SET_CURRENT_THREAD(to);
    before_switch(to, NULL);
    _st_context_switch(&me->context, to->context);
    abort();
}

extern _Thread_local int _st_active_count;

/* The idle thread ends by itself: it finds that nobody is left, and the next one to run is who
 * calls. So whoever follows stacks sees each of them end. */
static void end_idle(_st_thread_t *me)
{
    _st_thread_t *idle = _st_this_vp.idle_thread;

    _st_active_count = 0;
    _st_ending = 1;
    me->state = _ST_ST_RUNNABLE;
    _ST_ADD_RUNQ(me);
    idle->state = _ST_ST_RUNNING;
    go_to(me, idle);
    _st_ending = 0;
    _st_active_count = 0; /* it never counted, but has left */
}

int st_end(void)
{
    _st_thread_t *me = _ST_CURRENT_THREAD();

    if (_st_active_count != 1 || !(me->flags & _ST_FL_PRIMORDIAL) || _st_events_end() != 0) {
        errno = EBUSY;
        return -1;
    }
    st_on_held = NULL;
    end_idle(me);
    _st_stacks_end();
    forget_primordial();
    _ST_SET_CURRENT_THREAD(NULL);
    free(me);
    return 0;
}

int st_thread_stack(_st_thread_t *thread, void **base, size_t *size)
{
    if (!thread->stack)
        return -1;
    *base = thread->stack->stk_bottom;
    *size = (size_t)thread->stack->stk_size;
    return 0;
}

void *st_thread_context(_st_thread_t *thread)
{
    return thread->context;
}
