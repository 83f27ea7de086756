/* SPDX-License-Identifier: MIT */
/* disk.c - disk workers: queues of file jobs that run in order on helper threads. */
#include "sink/store/disk.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "sink/store/disk_room.h"

#include <assert.h>
#include <stdlib.h>

enum { WORKERS = CO_POOL_THREADS, BATCH = 16, SMALL = 16, EXTRA = 4 };

#define SLOW CO_SECONDS(5)       /* logs a line if a file waits for longer */
#define SLOW_AGAIN CO_SECONDS(30)

struct disk {
    struct disk_limits limits;
    struct disk_lane *head, **tail; /* queues with jobs */
    size_t bytes, extra; /* pending bytes; extra: those accepted over the limit */
    unsigned jobs;
    struct co_group group;
    struct co *idle[WORKERS]; /* waiting workers */
    unsigned n_idle, workers;
    struct disk_rooms *rooms;
    co_usec told_at; /* when it was logged as slow; 0: it is not slow */
};

/* Some jobs of one queue. On the heap, because a helper thread may outlive the waiting coroutine.
 * */
struct batch {
    struct disk_job *v[BATCH];
    unsigned n;
};

static enum co_pool pool_of(const struct disk *d)
{
    return d->limits.apart ? CO_POOL_STORE : CO_POOL_DISK;
}

struct disk *disk_new(const struct disk_limits *limits)
{
    struct disk *d = must(calloc(1, sizeof(*d)));

    d->limits = *limits;
    if (d->limits.threads == 0 || d->limits.threads > WORKERS)
        d->limits.threads = WORKERS;
    d->tail = &d->head;
    co_group_init(&d->group);
    if (d->limits.ends)
        d->rooms = disk_rooms_new(d->limits.ends, &d->group, pool_of(d));
    return d;
}

struct disk_rooms *disk_rooms_of(struct disk *d)
{
    return d->rooms;
}

void disk_lane_init(struct disk_lane *lane, struct disk *d)
{
    *lane = (struct disk_lane){ .disk = d };
    lane->tail = &lane->head;
}

static void list_lane(struct disk *d, struct disk_lane *lane)
{
    lane->next = NULL;
    *d->tail = lane;
    d->tail = &lane->next;
    lane->listed = true;
}

/* Counts a job when it starts to wait, or no longer waits. */
static void count(struct disk *d, struct disk_lane *lane, const struct disk_job *job, bool waits)
{
    lane->jobs += waits ? 1u : -1u;
    d->jobs += waits ? 1u : -1u;
    lane->bytes += waits ? job->bytes : -job->bytes;
    d->bytes += waits ? job->bytes : -job->bytes;
    if (job->extra)
        d->extra += waits ? job->bytes : -job->bytes;
    if (d->limits.all)
        (void)atomic_fetch_add_explicit(d->limits.all, waits ? job->bytes : -job->bytes,
                                        memory_order_relaxed);
}

/* Called with each new job, because a hanging disk causes no event. */
static void log_slow(struct disk *d, const struct disk_lane *lane)
{
    co_usec now = co_now(), waits = lane->busy_since ? now - lane->busy_since : 0;

    if (waits < SLOW || (d->told_at && now - d->told_at < SLOW_AGAIN))
        return;
    log_warn("files of %s have waited for %lld s to be written (%u jobs, %zu kB): the disk is slow "
             "or hangs; streams continue",
             d->limits.what ? d->limits.what : "streams", us_to_s(waits), d->jobs, d->bytes / 1024);
    d->told_at = now;
}

static void tell_done(struct disk *d)
{
    if (d->jobs > 0 || !d->told_at)
        return;
    log_trace("files of %s are written again, none is waiting",
              d->limits.what ? d->limits.what : "streams");
    d->told_at = 0;
}

static void run_batch(void *arg)
{
    struct batch *b = arg;

    for (unsigned i = 0; i < b->n; i++)
        b->v[i]->run(b->v[i]);
}

static void take_batch(struct disk_lane *lane, struct batch *b)
{
    b->n = 0;
    while (lane->head && b->n < BATCH) {
        struct disk_job *job = lane->head;

        lane->head = job->next;
        b->v[b->n++] = job;
    }
    if (!lane->head)
        lane->tail = &lane->head;
}

/* The owner may free the queue after its last job, so it is not used after that. */
static void finish_batch(struct disk *d, struct disk_lane *lane, struct batch *b)
{
    bool more = lane->head != NULL;

    lane->busy_since = more ? co_now() : 0;
    lane->listed = false;
    if (more)
        list_lane(d, lane);
    for (unsigned i = 0; i < b->n; i++) {
        struct disk_job *job = b->v[i];

        count(d, lane, job, false);
        job->done(job);
    }
    tell_done(d);
}

static err_t work(struct disk *d)
{
    struct disk_lane *lane = d->head;
    struct batch *b = must(calloc(1, sizeof(*b)));
    err_t err;

    d->head = lane->next;
    if (!d->head)
        d->tail = &d->head;
    take_batch(lane, b);
    err = co_thread_run(pool_of(d), run_batch, b, free, CO_FOREVER);
    if (err)
        return err; /* the process quits; hanging jobs are abandoned */
    finish_batch(d, lane, b);
    free(b);
    return NULL;
}

static err_t worker(void *arg)
{
    struct disk *d = arg;
    err_t err = NULL;

    co_log_as(LOG_OURS); /* not in the log budget of the client that caused the work */
    while (!err && !(err = co_check())) {
        if (d->head) {
            err = work(d);
            continue;
        }
        d->idle[d->n_idle++] = co_self();
        if (co_park(CO_FOREVER) == CO_STOPPED)
            err = co_check();
        for (unsigned i = 0; i < d->n_idle; i++) { /* woken by something other than disk_put() */
            if (d->idle[i] == co_self())
                d->idle[i--] = d->idle[--d->n_idle];
        }
    }
    return err;
}

/* Creates another worker if all are busy; workers stay until the end. */
static void wake_worker(struct disk *d)
{
    err_t err;

    if (d->n_idle > 0) {
        co_unpark(d->idle[--d->n_idle]);
        return;
    }
    if (d->workers == d->limits.threads)
        return;
    err = co_go(&d->group, "disk", worker, d);
    if (err)
        log_end("file worker", &err);
    else
        d->workers++;
}

static size_t most_bytes(const struct disk *d)
{
    const struct live_memory *m = d->limits.memory;
    size_t all = d->limits.all_bytes;

    return m && m->limit > 0 && m->limit / 4 < all ? m->limit / 4 : all;
}

static bool is_over(const struct disk *d, const struct disk_lane *lane, size_t bytes)
{
    size_t waits = d->bytes;

    if (d->limits.all)
        waits = atomic_load_explicit(d->limits.all, memory_order_relaxed);
    return (lane->jobs > 0 && lane->bytes + bytes > d->limits.lane_bytes) ||
           waits + bytes > most_bytes(d);
}

/* An empty queue accepts a job of any size. Over the total limit each queue may still have one
 * small job, all of these together a quarter of the limit, so that a stream that exhausts the limit
 * blocks only itself. */
static bool has_room(struct disk *d, const struct disk_lane *lane, struct disk_job *job)
{
    size_t most = most_bytes(d);

    if (d->bytes == 0 || !is_over(d, lane, job->bytes))
        return true;
    job->extra = lane->jobs == 0 && job->bytes <= most / SMALL &&
                 d->extra + job->bytes <= most / EXTRA;
    return job->extra;
}

bool disk_put(struct disk_lane *lane, struct disk_job *job, bool must)
{
    struct disk *d = lane->disk;

    if (!must && !has_room(d, lane, job))
        return false;
    log_slow(d, lane);
    job->next = NULL;
    *lane->tail = job;
    lane->tail = &job->next;
    count(d, lane, job, true);
    if (!lane->busy_since)
        lane->busy_since = co_now();
    if (!lane->listed) {
        list_lane(d, lane);
        wake_worker(d);
    }
    return true;
}

struct disk_job *disk_lane_last(const struct disk_lane *lane)
{
    return lane->head ? container_of(lane->tail, struct disk_job, next) : NULL;
}

void disk_free(struct disk *d, co_usec patience)
{
    co_usec end = co_now() + patience;
    err_t err = NULL;

    while (d->jobs > 0 && !err && co_now() < end)
        err = co_sleep(CO_MS(5));
    err_free(&err);
    if (d->jobs > 0)
        log_warn("%u files of %s were not written in time: the disk is slow or hangs", d->jobs,
                 d->limits.what ? d->limits.what : "streams");
    err = co_group_stop(&d->group);
    err_free(&err);
    if (d->limits.all)
        (void)atomic_fetch_sub_explicit(d->limits.all, d->bytes, memory_order_relaxed);
    disk_rooms_free(d->rooms);
    free(d);
}
