/* SPDX-License-Identifier: MIT */
/* thread.c - helper threads for what blocks. */
#include "co/thread.h"

#include "base/must.h"
#include "co/notify.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- threads that stay on some cores, and what they start, which need not */

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

enum { THREAD_STACK = 256 * 1024 };

enum state { QUEUED, RUNNING, DONE, ABANDONED };

struct job {
    struct job *next;
    void (*fn)(void *arg);
    void (*drop)(void *arg);
    void *arg;
    uint64_t lane;
    enum state state;        /* under the pool's lock */
    struct co_notify notify; /* the waiter's; raised under the lock and not after ABANDONED */
};

#define POOL \
    { .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER }

/* The one mutable global of co/ that several threads share; all of it is under its lock. */
static struct pool {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct job *head, **tail;
    int queued, idle, threads;
    int most; /* threads; 0: as many as suit */
    bool ending;
    uint64_t lanes[CO_POOL_DNS_THREADS]; /* of the jobs that run in one */
    pthread_t ended[CO_POOL_DNS_THREADS]; /* to be joined; no pool has more */
    int ended_count;
} pools[CO_POOLS] = {
    [CO_POOL_DNS] = POOL,
    [CO_POOL_FILE] = POOL,
    [CO_POOL_DISK] = POOL,
    [CO_POOL_STORE] = POOL,
    [CO_POOL_TLS] = POOL,
    [CO_POOL_VOD] = POOL,
    [CO_POOL_KEY] = POOL,
    [CO_POOL_AUDIO] = POOL,
};

/* Name (in top and perf) and nice value of each pool's threads. Jobs that players and connections
 * wait for run at the priority of the workers. Writing files and checking the keys of strangers run
 * at a lower priority, so that a crowd of short-lived publishers takes no time from players. */
static const struct rank {
    const char *name; /* 15 letters at most */
    int nice;
} ranks[CO_POOLS] = {
    [CO_POOL_DNS] = { "srs-dns", 0 },
    [CO_POOL_FILE] = { "srs-file", 5 },
    [CO_POOL_DISK] = { "srs-disk", 5 },
    [CO_POOL_STORE] = { "srs-store", 5 },
    [CO_POOL_TLS] = { "srs-tls", 0 },
    [CO_POOL_VOD] = { "srs-vod", 0 },
    [CO_POOL_KEY] = { "srs-key", 10 },
    [CO_POOL_AUDIO] = { "srs-sound", 5 },
};

static void take_rank(const struct rank *r)
{
    id_t me = (id_t)gettid();

    (void)pthread_setname_np(pthread_self(), r->name);
    if (r->nice > 0) /* Linux: of one thread */
        (void)setpriority(PRIO_PROCESS, me, getpriority(PRIO_PROCESS, me) + r->nice);
}

/* ---- which job is next. All with the lock held */

static int most_threads(const struct pool *p)
{
    int each = (int)co_schedulers();

    if (p->most > 0)
        return p->most;
    if (p == &pools[CO_POOL_DNS] || each > CO_POOL_DNS_THREADS)
        return CO_POOL_DNS_THREADS;
    return each > CO_POOL_THREADS ? each : CO_POOL_THREADS;
}

static bool lane_is_free(const struct pool *p, uint64_t lane)
{
    int most = most_threads(p) / 2, n = 0;

    for (int i = 0; lane && i < CO_POOL_DNS_THREADS; i++)
        n += p->lanes[i] == lane;
    return n == 0 || n < most;
}

static void change_lane(struct pool *p, uint64_t from, uint64_t to)
{
    int i = 0;

    while (i < CO_POOL_DNS_THREADS - 1 && p->lanes[i] != from)
        i++;
    p->lanes[i] = to;
}

static void unlink_job(struct pool *p, struct job *j)
{
    struct job **at = &p->head;

    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
    if (!j->next)
        p->tail = at;
    p->queued--;
}

/* NULL: there is none, or those that wait are in lanes that are full: who leaves one of these looks
 * here again. */
static struct job *take(struct pool *p)
{
    struct job *j = p->head;

    while (j && !lane_is_free(p, j->lane))
        j = j->next;
    if (!j)
        return NULL;
    unlink_job(p, j);
    if (j->lane)
        change_lane(p, 0, j->lane);
    j->state = RUNNING;
    return j;
}

static void *worker(void *arg)
{
    struct pool *p = arg;
    struct job *j;
    bool abandoned;

    co_unpin(); /* the worker that needed it first may be */
    take_rank(&ranks[p - pools]);
    (void)pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!(j = take(p)) && !p->ending) {
            p->idle++;
            (void)pthread_cond_wait(&p->more, &p->lock);
            p->idle--;
        }
        if (!j)
            break;
        (void)pthread_mutex_unlock(&p->lock);
        j->fn(j->arg);
        (void)pthread_mutex_lock(&p->lock);
        if (j->lane)
            change_lane(p, j->lane, 0);
        abandoned = j->state == ABANDONED;
        if (!abandoned) {
            j->state = DONE;
            co_notify_raise(&j->notify);
            continue; /* from here on it is the waiter's */
        }
        (void)pthread_mutex_unlock(&p->lock);
        j->drop(j->arg);
        free(j);
        (void)pthread_mutex_lock(&p->lock);
    }
    p->threads--;
    p->ended[p->ended_count++] = pthread_self();
    (void)pthread_mutex_unlock(&p->lock);
    return NULL;
}

static int most_queued(void)
{
    int n = (int)co_schedulers();

    return CO_POOL_QUEUE * (n > 1 ? n : 1);
}

/* One more thread, if none is free and there may be more. With the lock held. */
static void grow(struct pool *p)
{
    pthread_attr_t attr;
    sigset_t all, old;
    pthread_t id;

    if (p->idle >= p->queued || p->threads >= most_threads(p))
        return;
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, THREAD_STACK);
    (void)sigfillset(&all); /* signals are for the main thread */
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    if (pthread_create(&id, &attr, worker, p) == 0)
        p->threads++;
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    (void)pthread_attr_destroy(&attr);
}

static err_t enqueue(struct pool *p, struct job *j)
{
    err_t err = NULL;

    (void)pthread_mutex_lock(&p->lock);
    if (!p->tail)
        p->tail = &p->head;
    if (p->queued >= most_queued()) {
        err = err_new(ERR_TOO_MANY, "%d calls wait for a helper thread", p->queued);
    } else {
        *p->tail = j;
        p->tail = &j->next;
        p->queued++;
        grow(p);
        (void)pthread_cond_signal(&p->more);
    }
    if (!err && p->threads == 0) {
        unlink_job(p, j);
        err = err_new(ERR_SYSTEM, "cannot make a thread");
    }
    (void)pthread_mutex_unlock(&p->lock);
    return err;
}

/* Wait no longer. True: fn has returned after all, or never ran; the job is the caller's. */
static bool give_up(struct pool *p, struct job *j, bool *done)
{
    bool running;

    (void)pthread_mutex_lock(&p->lock);
    running = j->state == RUNNING;
    *done = j->state == DONE;
    if (j->state == QUEUED)
        unlink_job(p, j);
    if (running)
        j->state = ABANDONED;
    co_notify_close(&j->notify);
    (void)pthread_mutex_unlock(&p->lock);
    return !running;
}

err_t co_thread_run(enum co_pool pool, void (*fn)(void *arg), void *arg,
                    void (*drop)(void *arg), co_usec timeout)
{
    return co_thread_run_lane(pool, 0, fn, arg, drop, timeout);
}

err_t co_thread_run_lane(enum co_pool pool, uint64_t lane, void (*fn)(void *arg), void *arg,
                         void (*drop)(void *arg), co_usec timeout)
{
    struct pool *p = &pools[pool];
    struct job *j = must(calloc(1, sizeof(*j)));
    enum co_wake wake;
    bool done;
    err_t err;

    *j = (struct job){ .fn = fn, .drop = drop, .arg = arg, .lane = lane };
    err = co_notify_open(&j->notify);
    if (err)
        goto out;
    err = enqueue(p, j);
    if (err) {
        co_notify_close(&j->notify);
        goto out;
    }
    wake = co_notify_wait(&j->notify, timeout);
    if (!give_up(p, j, &done))
        j = NULL; /* the worker's, and arg with it */
    if (!done)
        err = wake == CO_TIMEOUT ? err_new(ERR_IO_TIMEOUT, "waited %lld ms for a helper thread",
                                           us_to_ms(timeout))
                                 : err_wrap(co_stop_why(), "waiting for a helper thread");
out:
    if (err && j)
        drop(arg);
    free(j);
    return err;
}

static void set_most(struct pool *p, int n)
{
    p->most = n < CO_POOL_DNS_THREADS ? n : CO_POOL_DNS_THREADS;
    (void)pthread_cond_broadcast(&p->more); /* lanes may be wider */
}

void co_threads_limit(enum co_pool pool, int n)
{
    struct pool *p = &pools[pool];

    (void)pthread_mutex_lock(&p->lock);
    set_most(p, n);
    (void)pthread_mutex_unlock(&p->lock);
}

void co_threads_want(enum co_pool pool, int n)
{
    struct pool *p = &pools[pool];

    (void)pthread_mutex_lock(&p->lock);
    if (n > p->most)
        set_most(p, n);
    (void)pthread_mutex_unlock(&p->lock);
}

/* With the lock held. Looking now and then is as good as to be told at the end of a program, and
 * needs no clock that may be set meanwhile. */
static void wait_ended(struct pool *p, co_usec until)
{
    while (p->threads > 0 && co_clock() < until) {
        (void)pthread_mutex_unlock(&p->lock);
        (void)nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
        (void)pthread_mutex_lock(&p->lock);
    }
}

static void end_pool(struct pool *p, co_usec until)
{
    (void)pthread_mutex_lock(&p->lock);
    p->ending = true;
    (void)pthread_cond_broadcast(&p->more);
    wait_ended(p, until);
    p->ending = p->threads > 0;
    while (p->ended_count > 0) {
        pthread_t id = p->ended[--p->ended_count];

        (void)pthread_mutex_unlock(&p->lock);
        (void)pthread_join(id, NULL); /* it is on its last instructions */
        (void)pthread_mutex_lock(&p->lock);
    }
    (void)pthread_mutex_unlock(&p->lock);
}

void co_threads_end(co_usec timeout)
{
    co_usec until = co_clock() + timeout;

    for (int i = 0; i < CO_POOLS; i++)
        end_pool(&pools[i], until);
}
