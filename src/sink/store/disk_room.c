/* SPDX-License-Identifier: MIT */
/* disk_room.c - how much of a disk recordings and segments may take: the sums. */
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
#define PATIENCE CO_SECONDS(3600) /* a thread that hangs on a disk for longer is given up */

/* One folder. Those of all workers write to it, and one of them counts: all of it is under the
 * lock, but what never changes. */
struct total {
    struct total *next;
    char *root;
    const char *const *ends; /* of the names that count */
    unsigned refs;
    bool counts, counted;    /* somebody has a quota; it was counted */
    bool looked, looking;    /* one does, now */
    int64_t found, written;  /* bytes by the last count, and since then */
    int64_t free, size, spent; /* of the disk at the last look, and spent since then */
    co_usec look_at, count_at;
};

static struct total *totals;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct disk_usage {
    struct disk_usage *next;
    struct disk_rooms *all;  /* NULL: its disk is closed */
    struct total *total;
    unsigned refs;
};

struct disk_rooms {
    const char *const *ends;
    struct co_group *group;
    enum co_pool pool;
    struct disk_usage *list;
    struct co *waiter; /* until something is due */
    bool running;
};

struct disk_rooms *disk_rooms_new(const char *const *ends, struct co_group *group,
                                  enum co_pool pool)
{
    struct disk_rooms *all = must(calloc(1, sizeof(*all)));

    *all = (struct disk_rooms){ .ends = ends, .group = group, .pool = pool };
    return all;
}

/* Takes the root over. */
static struct total *total_of(char *root, const char *const *ends)
{
    struct total *t;

    (void)pthread_mutex_lock(&lock);
    for (t = totals; t && (t->ends != ends || strcmp(t->root, root) != 0); t = t->next)
        continue;
    if (t) {
        free(root);
    } else {
        t = must(calloc(1, sizeof(*t)));
        *t = (struct total){ .next = totals, .root = root, .ends = ends };
        totals = t;
    }
    t->refs++;
    (void)pthread_mutex_unlock(&lock);
    return t;
}

static void total_leave(struct total *t)
{
    struct total **at = &totals;

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

static void usage_free(struct disk_usage *u)
{
    total_leave(u->total);
    free(u);
}

void disk_rooms_free(struct disk_rooms *all)
{
    if (!all)
        return;
    while (all->list) {
        struct disk_usage *u = all->list;

        all->list = u->next;
        u->all = NULL;
        if (u->refs == 0)
            usage_free(u);
    }
    free(all);
}

/* ---- look at the disk */

/* What was added before one looked. */
struct before {
    int64_t written, spent;
    co_usec began;
};

/* NULL: somebody else looks now. */
static struct disk_count *begin(struct total *t, struct before *before)
{
    struct disk_count *c = NULL;

    (void)pthread_mutex_lock(&lock);
    *before = (struct before){ t->written, t->spent, co_clock() };
    if (!t->looking)
        c = disk_count_new(t->root, t->ends, t->counts && before->began >= t->count_at);
    t->looking = true;
    (void)pthread_mutex_unlock(&lock);
    return c;
}

static void take(struct total *t, const struct disk_count *c, const struct before *before)
{
    (void)pthread_mutex_lock(&lock);
    t->looking = false;
    t->looked = true;
    t->free = c->free;
    t->size = c->size;
    t->spent -= before->spent;
    t->look_at = co_clock() + LOOK;
    if (c->count) {
        t->counted = true;
        t->found = c->bytes;
        t->written -= before->written;
        t->count_at = co_clock() + LOOK + (co_clock() - before->began) * SELDOM;
    }
    (void)pthread_mutex_unlock(&lock);
}

/* It is not known meanwhile. */
static void again_later(struct total *t)
{
    (void)pthread_mutex_lock(&lock);
    t->looking = false;
    t->look_at = t->count_at = co_clock() + LOOK;
    (void)pthread_mutex_unlock(&lock);
}

/* Yields: with its thread, which lets others have theirs in between. */
static err_t look(struct disk_usage *u)
{
    struct before before;
    struct disk_count *c = begin(u->total, &before);
    err_t err = NULL;

    if (!c)
        return NULL;
    u->refs++;
    while (!err && !c->done)
        err = co_thread_run(u->all->pool, disk_count_step, c, disk_count_free, PATIENCE);
    u->refs--;
    if (err) {
        again_later(u->total);
        return err;
    }
    take(u->total, c, &before);
    disk_count_free(c);
    return NULL;
}

/* CO_FOREVER: another one looks, and sets when it is due again. */
static co_usec due_at(const struct disk_usage *u)
{
    const struct total *t = u->total;
    co_usec at;

    (void)pthread_mutex_lock(&lock);
    at = t->counts && t->count_at < t->look_at ? t->count_at : t->look_at;
    if (t->looking)
        at = CO_FOREVER;
    (void)pthread_mutex_unlock(&lock);
    return at;
}

static bool is_due(const struct disk_usage *u)
{
    co_usec at = due_at(u);

    return at != CO_FOREVER && co_clock() >= at;
}

/* Those that nobody has any more go. The list may change while one is looked at. */
static struct disk_usage *next_due(struct disk_rooms *all)
{
    for (struct disk_usage **at = &all->list; *at;) {
        struct disk_usage *u = *at;

        if (u->refs > 0 && is_due(u))
            return u;
        if (u->refs > 0) {
            at = &u->next;
            continue;
        }
        *at = u->next;
        usage_free(u);
    }
    return NULL;
}

static void wake(struct disk_rooms *all)
{
    if (all && all->waiter)
        co_unpark(all->waiter);
}

static err_t wait_until_due(struct disk_rooms *all)
{
    co_usec until = co_clock() + LOOK;
    enum co_wake woken;

    for (const struct disk_usage *u = all->list; u; u = u->next) {
        co_usec at = due_at(u);

        if (at != CO_FOREVER && at < until)
            until = at;
    }
    all->waiter = co_self();
    woken = co_park(until - co_clock());
    all->waiter = NULL;
    return woken == CO_STOPPED ? co_check() : NULL;
}

static err_t watch(void *rooms)
{
    struct disk_rooms *all = rooms;
    err_t err = NULL;

    while (!err && all->list) {
        struct disk_usage *u = next_due(all);

        err = u ? look(u) : wait_until_due(all);
        if (err && u && !co_stop_asked())
            log_end("free space", &err); /* tried again */
    }
    all->running = false;
    return err;
}

/* ---- rooms */

/* The folders before the first variable, or the one of a file. */
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
    struct disk_usage *u;
    char *root;

    if (!all)
        return;
    root = root_of(path);
    for (u = all->list; u && strcmp(u->total->root, root) != 0; u = u->next)
        continue;
    if (u) {
        free(root);
    } else {
        u = must(calloc(1, sizeof(*u)));
        *u = (struct disk_usage){ .next = all->list, .all = all,
                                  .total = total_of(root, all->ends) };
        all->list = u;
    }
    u->refs++;
    *r = (struct disk_room){ .usage = u };
    run(all);
    wake(all);
}

void disk_room_close(struct disk_room *r)
{
    struct disk_usage *u = r->usage;

    *r = (struct disk_room){ 0 };
    if (!u || --u->refs > 0)
        return;
    wake(u->all);
    if (!u->all)
        usage_free(u);
}

static bool lacks_quota(struct total *t, int64_t quota, bool was_full)
{
    if (quota <= 0)
        return false;
    t->counts = true;
    return t->counted && t->found + t->written > quota - (was_full ? quota / MARGIN : 0);
}

static bool lacks_free(const struct total *t, int64_t floor, bool was_full)
{
    return floor > 0 && t->looked && t->size >= floor * SMALL &&
           t->free - t->spent < floor + (was_full ? floor / MARGIN : 0);
}

enum disk_lack disk_room_lacks(struct disk_room *r, int64_t quota, int64_t floor)
{
    enum disk_lack lack = DISK_LACKS_NOTHING;
    struct total *t;
    bool counted;

    if (!r->usage)
        return lack;
    t = r->usage->total;
    (void)pthread_mutex_lock(&lock);
    counted = t->counts;
    if (lacks_quota(t, quota, r->full))
        lack = DISK_LACKS_QUOTA;
    else if (lacks_free(t, floor, r->full))
        lack = DISK_LACKS_FREE;
    counted = counted || !t->counts;
    (void)pthread_mutex_unlock(&lock);
    if (!counted)
        wake(r->usage->all);
    r->full = lack != DISK_LACKS_NOTHING;
    return lack;
}

void disk_room_add(struct disk_room *r, int64_t bytes)
{
    if (!r->usage)
        return;
    (void)pthread_mutex_lock(&lock);
    r->usage->total->written += bytes;
    r->usage->total->spent += bytes;
    (void)pthread_mutex_unlock(&lock);
}

const char *disk_room_root(const struct disk_room *r)
{
    return r->usage ? r->usage->total->root : "";
}

int64_t disk_room_used(const struct disk_room *r)
{
    int64_t used = 0;

    if (!r->usage)
        return used;
    (void)pthread_mutex_lock(&lock);
    used = r->usage->total->found + r->usage->total->written;
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
