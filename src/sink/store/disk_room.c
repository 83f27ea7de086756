/* SPDX-License-Identifier: MIT */
/* disk_room.c - quotas and free space for recordings and segments. */
#include "sink/store/disk_room.h"

#include "base/log.h"
#include "base/must.h"
#include "sink/store/disk_count.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

enum { MARGIN = 20, SMALL = 20, SELDOM = 50 };

#define LOOK CO_SECONDS(3)
#define PATIENCE CO_SECONDS(3600) /* abandons a thread that hangs on a disk for longer */

/* A folder. All workers write to it, and one of them counts. Fields that change are under the
 * lock. */
struct disk_total {
    struct disk_total *next;
    char *root;
    const char *const *ends; /* file name endings that count */
    unsigned refs;
    bool counts, counted;    /* a stream has a quota; the folder was counted */
    bool looked, looking;    /* was checked; is being checked */
    int64_t found, written;  /* bytes at the last count, and written since then */
    int64_t free, size, spent; /* disk space at the last check, and used since then */
    co_usec look_at, count_at;
};

static struct disk_total *totals;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct disk_rooms {
    const char *const *ends;
    struct co_group *group;
    enum co_pool pool;
    unsigned open;           /* number of open rooms */
    struct co *waiter;       /* waits until a check is due */
    bool running, closed;
};

struct disk_rooms *disk_rooms_new(const char *const *ends, struct co_group *group,
                                  enum co_pool pool)
{
    struct disk_rooms *all = must(calloc(1, sizeof(*all)));

    *all = (struct disk_rooms){ .ends = ends, .group = group, .pool = pool };
    return all;
}

void disk_rooms_free(struct disk_rooms *all)
{
    if (all && all->open > 0)
        all->closed = true; /* the last room frees it */
    else
        free(all);
}

/* Takes over `root`. */
static struct disk_total *total_of(char *root, const char *const *ends)
{
    struct disk_total *t;

    (void)pthread_mutex_lock(&lock);
    for (t = totals; t && (t->ends != ends || strcmp(t->root, root) != 0); t = t->next)
        continue;
    if (t) {
        free(root);
    } else {
        t = must(calloc(1, sizeof(*t)));
        *t = (struct disk_total){ .next = totals, .root = root, .ends = ends };
        totals = t;
    }
    t->refs++;
    (void)pthread_mutex_unlock(&lock);
    return t;
}

static void total_leave(struct disk_total *t)
{
    struct disk_total **at = &totals;

    (void)pthread_mutex_lock(&lock);
    if (--t->refs > 0)
        t = NULL;
    while (t && *at != t)
        at = &(*at)->next;
    if (t)
        *at = t->next;
    (void)pthread_mutex_unlock(&lock);
    if (t)
        free(t->root);
    free(t);
}

/* ---- checking the disk */

/* The sums before the check. */
struct before {
    int64_t written, spent;
    co_usec began;
};

/* Returns CO_FOREVER while another worker checks, which then sets the next time. */
static co_usec due_at(const struct disk_total *t)
{
    if (t->looking)
        return CO_FOREVER;
    return t->counts && t->count_at < t->look_at ? t->count_at : t->look_at;
}

/* Returns a folder that is due, with a reference; NULL: the next one is due at *until. */
static struct disk_total *next_due(const struct disk_rooms *all, co_usec *until)
{
    struct disk_total *t;

    *until = co_clock() + LOOK;
    (void)pthread_mutex_lock(&lock);
    for (t = totals; t; t = t->next) {
        co_usec at = t->ends == all->ends ? due_at(t) : CO_FOREVER;

        if (at != CO_FOREVER && co_clock() >= at)
            break;
        if (at != CO_FOREVER && at < *until)
            *until = at;
    }
    if (t) {
        t->refs++;
        t->looking = true;
    }
    (void)pthread_mutex_unlock(&lock);
    return t;
}

static struct disk_count *begin(struct disk_total *t, struct before *before)
{
    bool counts;

    (void)pthread_mutex_lock(&lock);
    *before = (struct before){ t->written, t->spent, co_clock() };
    counts = t->counts && before->began >= t->count_at;
    (void)pthread_mutex_unlock(&lock);
    return disk_count_new(t->root, t->ends, counts);
}

/* Applies the result; if c is NULL, the usage is unknown until the next check. */
static void take(struct disk_total *t, const struct disk_count *c, const struct before *before)
{
    (void)pthread_mutex_lock(&lock);
    t->looking = false;
    t->look_at = co_clock() + LOOK;
    if (c) {
        t->looked = true;
        t->free = c->free;
        t->size = c->size;
        t->spent -= before->spent;
    } else {
        t->count_at = t->look_at;
    }
    if (c && c->count) {
        t->counted = true;
        t->found = c->bytes;
        t->written -= before->written;
        t->count_at = t->look_at + (co_clock() - before->began) * SELDOM;
    }
    (void)pthread_mutex_unlock(&lock);
}

/* Checks one folder on a helper thread, in steps. Yields. */
static err_t check(const struct disk_rooms *all, struct disk_total *t)
{
    struct before before;
    struct disk_count *c = begin(t, &before);
    err_t err = NULL;

    while (!err && !c->done)
        err = co_thread_run(all->pool, disk_count_step, c, disk_count_free, PATIENCE);
    take(t, err ? NULL : c, &before);
    if (!err)
        disk_count_free(c);
    total_leave(t);
    return err;
}

static void wake(const struct disk_rooms *all)
{
    if (!all->closed && all->waiter)
        co_unpark(all->waiter);
}

static err_t wait_until(struct disk_rooms *all, co_usec until)
{
    enum co_wake woken;

    all->waiter = co_self();
    woken = co_park(until - co_clock());
    all->waiter = NULL;
    return woken == CO_STOPPED ? co_check() : NULL;
}

static err_t watch(void *rooms)
{
    struct disk_rooms *all = rooms;
    err_t err = NULL;

    while (!err && all->open > 0) {
        co_usec until;
        struct disk_total *t = next_due(all, &until);

        err = t ? check(all, t) : wait_until(all, until);
        if (err && t && !co_stop_asked())
            log_end("free space", &err); /* tries again later */
    }
    all->running = false;
    return err;
}

/* ---- rooms */

/* Returns the folders before the first variable, or the folder of a file. */
static char *root_of(const char *path)
{
    size_t n = strcspn(path, "[");
    bool whole = path[n] == '\0';
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');

    if (whole && !(dot && dot > slash && (!strcmp(dot, ".flv") || !strcmp(dot, ".mp4"))))
        return must_dup(*path ? path : ".");
    while (n > 0 && path[n - 1] != '/')
        n--;
    return n > 0 ? must_ndup(path, n) : must_dup(".");
}

static void run(struct disk_rooms *all)
{
    err_t err;

    if (all->running)
        return;
    all->running = true;
    err = co_go(all->group, "disk room", watch, all);
    if (!err)
        return;
    all->running = false;
    log_end("free space", &err);
}

void disk_room_open(struct disk_room *r, struct disk *d, const char *path)
{
    struct disk_rooms *all = disk_rooms_of(d);

    if (!all)
        return;
    *r = (struct disk_room){ .all = all, .total = total_of(root_of(path), all->ends) };
    all->open++;
    run(all);
    wake(all);
}

void disk_room_close(struct disk_room *r)
{
    struct disk_rooms *all = r->all;

    if (!all)
        return;
    total_leave(r->total);
    *r = (struct disk_room){ 0 };
    if (--all->open > 0)
        return;
    if (all->closed)
        free(all);
    else
        wake(all);
}

static bool lacks_quota(struct disk_total *t, int64_t quota, bool was_full)
{
    if (quota <= 0)
        return false;
    t->counts = true;
    return t->counted && t->found + t->written > quota - (was_full ? quota / MARGIN : 0);
}

static bool lacks_free(const struct disk_total *t, int64_t floor, bool was_full)
{
    return floor > 0 && t->looked && t->size >= floor * SMALL &&
           t->free - t->spent < floor + (was_full ? floor / MARGIN : 0);
}

enum disk_lack disk_room_lacks(struct disk_room *r, int64_t quota, int64_t floor)
{
    enum disk_lack lack = DISK_LACKS_NOTHING;
    struct disk_total *t;
    bool counted;

    if (!r->total)
        return lack;
    t = r->total;
    (void)pthread_mutex_lock(&lock);
    counted = t->counts;
    if (lacks_quota(t, quota, r->full))
        lack = DISK_LACKS_QUOTA;
    else if (lacks_free(t, floor, r->full))
        lack = DISK_LACKS_FREE;
    counted = counted || !t->counts;
    (void)pthread_mutex_unlock(&lock);
    if (!counted)
        wake(r->all);
    r->full = lack != DISK_LACKS_NOTHING;
    return lack;
}

void disk_room_add(struct disk_room *r, int64_t bytes)
{
    if (!r->total)
        return;
    (void)pthread_mutex_lock(&lock);
    r->total->written += bytes;
    r->total->spent += bytes;
    (void)pthread_mutex_unlock(&lock);
}

const char *disk_room_root(const struct disk_room *r)
{
    return r->total ? r->total->root : "";
}

int64_t disk_room_used(const struct disk_room *r)
{
    int64_t used = 0;

    if (!r->total)
        return used;
    (void)pthread_mutex_lock(&lock);
    used = r->total->found + r->total->written;
    (void)pthread_mutex_unlock(&lock);
    return used;
}

bool disk_has_free(int fd, uint64_t bytes, int64_t floor)
{
    struct statvfs v;
    uint64_t unit, left;

    if (floor <= 0 || fstatvfs(fd, &v) != 0)
        return true;
    unit = v.f_frsize;
    left = v.f_bavail * unit;
    return v.f_blocks * unit < (uint64_t)floor * SMALL || left >= bytes + (uint64_t)floor;
}
