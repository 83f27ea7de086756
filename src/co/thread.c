/* SPDX-License-Identifier: MIT */
/* thread.c - helper threads for blocking work. */
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

/* ---- pinning */

static cpu_set_t allowed;
static pthread_once_t allowed_once = PTHREAD_ONCE_INIT;
static atomic_bool any_pinned; /* whether any thread is pinned */

static void load_allowed(void)
{
    if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
        CPU_ZERO(&allowed); /* there are more cores than the set can hold */
}

const cpu_set_t *co_pin_allowed(void)
{
    (void)pthread_once(&allowed_once, load_allowed);
    return &allowed;
}

bool co_pin(const cpu_set_t *cores)
{
    (void)co_pin_allowed();
    if (sched_setaffinity(0, sizeof(*cores), cores) < 0)
        return false;
    atomic_store(&any_pinned, true);
    return true;
}

void co_unpin(void)
{
    if (atomic_load(&any_pinned) && CPU_COUNT(&allowed) > 0)
        (void)syscall(SYS_sched_setaffinity, 0, sizeof(allowed), &allowed);
}

enum { THREAD_STACK = 256 * 1024 };

enum state { QUEUED, RUNNING, DONE, ABANDONED };

struct job {
    struct job *next;
    void (*fn)(void *arg);
    void (*drop)(void *arg);
    void *arg;
    uint64_t queue;
    enum state state;        /* under the pool's lock */
    /* owned by the waiter; raised under the lock and not after ABANDONED */
    struct co_notify notify;
};

#define POOL \
    { .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER }

/* The only mutable global of co/ that several threads share; protected by its lock. */
static struct pool {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct job *head, **tail;
    int queued, idle, threads;
    int most; /* maximum of threads; 0: default */
    bool ending;
    uint64_t queues[CO_POOL_DNS_THREADS]; /* queue ids of the running jobs */
    pthread_t ended[CO_POOL_DNS_THREADS]; /* threads to join; no pool has more */
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
 * wait for run at the priority of the workers. File writes and signature checks for untrusted
 * clients run at a lower priority, so that a crowd of short-lived publishers takes no time from
 * players. */
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
    if (r->nice > 0) /* Linux: applies to one thread */
        (void)setpriority(PRIO_PROCESS, me, getpriority(PRIO_PROCESS, me) + r->nice);
}

/* ---- selection of the next job, with the lock held */

static int max_threads(const struct pool *p)
{
    int each = (int)co_schedulers();

    if (p->most > 0)
        return p->most;
    if (p == &pools[CO_POOL_DNS] || each > CO_POOL_DNS_THREADS)
        return CO_POOL_DNS_THREADS;
    return each > CO_POOL_THREADS ? each : CO_POOL_THREADS;
}

static bool queue_is_free(const struct pool *p, uint64_t queue)
{
    int most = max_threads(p) / 2, n = 0;

    for (int i = 0; queue && i < CO_POOL_DNS_THREADS; i++)
        n += p->queues[i] == queue;
    return n == 0 || n < most;
}

static void change_queue(struct pool *p, uint64_t from, uint64_t to)
{
    int i = 0;

    while (i < CO_POOL_DNS_THREADS - 1 && p->queues[i] != from)
        i++;
    p->queues[i] = to;
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

/* Returns NULL if no job is waiting or all belong to queues at their limit; a thread that finishes
 * one of those calls this again. */
static struct job *take(struct pool *p)
{
    struct job *j = p->head;

    while (j && !queue_is_free(p, j->queue))
        j = j->next;
    if (!j)
        return NULL;
    unlink_job(p, j);
    if (j->queue)
        change_queue(p, 0, j->queue);
    j->state = RUNNING;
    return j;
}

static void *worker(void *arg)
{
    struct pool *p = arg;
    struct job *j;
    bool abandoned;

    co_unpin(); /* the creating worker may be pinned */
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
        if (j->queue)
            change_queue(p, j->queue, 0);
        abandoned = j->state == ABANDONED;
        if (!abandoned) {
            j->state = DONE;
            co_notify_raise(&j->notify);
            continue; /* the job belongs to the waiter now */
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

static int max_queued(void)
{
    int n = (int)co_schedulers();

    return CO_POOL_QUEUE * (n > 1 ? n : 1);
}

/* Starts one more thread if none is free and the limit allows it. With the lock held. */
static void grow(struct pool *p)
{
    pthread_attr_t attr;
    sigset_t all, old;
    pthread_t id;

    if (p->idle >= p->queued || p->threads >= max_threads(p))
        return;
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, THREAD_STACK);
    (void)sigfillset(&all); /* the main thread handles signals */
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
    if (p->queued >= max_queued()) {
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

/* Stops waiting. Returns true if fn has returned after all or never ran; the caller owns the job
 * then. */
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
    return co_thread_run_queue(pool, 0, fn, arg, drop, timeout);
}

err_t co_thread_run_queue(enum co_pool pool, uint64_t queue, void (*fn)(void *arg), void *arg,
                         void (*drop)(void *arg), co_usec timeout)
{
    struct pool *p = &pools[pool];
    struct job *j = must(calloc(1, sizeof(*j)));
    enum co_wake wake;
    bool done;
    err_t err;

    *j = (struct job){ .fn = fn, .drop = drop, .arg = arg, .queue = queue };
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
        j = NULL; /* the helper thread owns it, and arg */
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
    (void)pthread_cond_broadcast(&p->more); /* the queues' shares may be larger */
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

/* Waits until the threads have ended. With the lock held. Polling is sufficient at the end of a
 * program, and needs no wall clock, which may be set meanwhile. */
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
        (void)pthread_join(id, NULL); /* it is about to end */
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
