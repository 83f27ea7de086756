/* SPDX-License-Identifier: MIT */
/* disk_room.c - how much of a disk recordings and segments may take: the sums. */
#include "sink/store/disk_room.h"

#include "base/log.h"
#include "base/must.h"
#include "co/thread.h"
#include "sink/store/disk_count.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

enum { MARGIN = 20, SMALL = 20, SELDOM = 50 };

#define LOOK CO_SECONDS(3)
#define PATIENCE CO_SECONDS(3600) /* a thread that hangs on a disk for longer is given up */

struct disk_usage {
    struct disk_usage *next;
    struct disk_rooms *all;  /* NULL: its disk is closed */
    char *root;
    unsigned refs;
    bool counts, counted;    /* somebody has a quota; it was counted */
    bool looked;
    int64_t found, written;  /* bytes by the last count, and since then */
    int64_t free, size, spent; /* of the disk at the last look, and spent since then */
    co_usec look_at, count_at;
};

struct disk_rooms {
    const char *const *ends;
    struct co_group *group;
    struct disk_usage *list;
    struct co *waiter; /* until something is due */
    bool running;
};

struct disk_rooms *disk_rooms_new(const char *const *ends, struct co_group *group)
{
    struct disk_rooms *all = must(calloc(1, sizeof(*all)));

    *all = (struct disk_rooms){ .ends = ends, .group = group };
    return all;
}

static void usage_free(struct disk_usage *u)
{
    free(u->root);
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

static void take(struct disk_usage *u, const struct disk_count *c, int64_t written, int64_t spent,
                 co_usec began)
{
    u->looked = true;
    u->free = c->free;
    u->size = c->size;
    u->spent -= spent;
    u->look_at = co_clock() + LOOK;
    if (!c->count)
        return;
    u->counted = true;
    u->found = c->bytes;
    u->written -= written;
    u->count_at = co_clock() + LOOK + (co_clock() - began) * SELDOM;
}

/* Yields: with its thread, which lets others have theirs in between. */
static err_t look(struct disk_usage *u)
{
    bool count = u->counts && co_clock() >= u->count_at;
    struct disk_count *c = disk_count_new(u->root, u->all->ends, count);
    int64_t written = u->written, spent = u->spent;
    co_usec began = co_clock();
    err_t err = NULL;

    u->refs++;
    while (!err && !c->done)
        err = co_thread_run(CO_POOL_DISK, disk_count_step, c, disk_count_free, PATIENCE);
    u->refs--;
    if (err)
        return err;
    take(u, c, written, spent, began);
    disk_count_free(c);
    return NULL;
}

static bool is_due(const struct disk_usage *u)
{
    return co_clock() >= u->look_at || (u->counts && co_clock() >= u->count_at);
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

static co_usec due_at(const struct disk_usage *u)
{
    return u->counts && u->count_at < u->look_at ? u->count_at : u->look_at;
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
        if (due_at(u) < until)
            until = due_at(u);
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
        if (err && u && !co_stop_asked()) { /* try again; it is not known meanwhile */
            u->look_at = u->count_at = co_clock() + LOOK;
            log_end("free space", &err);
        }
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
    for (u = all->list; u && strcmp(u->root, root) != 0; u = u->next)
        continue;
    if (u) {
        free(root);
    } else {
        u = must(calloc(1, sizeof(*u)));
        *u = (struct disk_usage){ .next = all->list, .all = all, .root = root };
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

static bool lacks_quota(struct disk_usage *u, int64_t quota, bool was_full)
{
    if (quota <= 0)
        return false;
    if (!u->counts)
        wake(u->all);
    u->counts = true;
    return u->counted && u->found + u->written > quota - (was_full ? quota / MARGIN : 0);
}

static bool lacks_free(const struct disk_usage *u, int64_t floor, bool was_full)
{
    return floor > 0 && u->looked && u->size >= floor * SMALL &&
           u->free - u->spent < floor + (was_full ? floor / MARGIN : 0);
}

enum disk_lack disk_room_lacks(struct disk_room *r, int64_t quota, int64_t floor)
{
    struct disk_usage *u = r->usage;
    enum disk_lack lack = DISK_LACKS_NOTHING;

    if (!u)
        return lack;
    if (lacks_quota(u, quota, r->full))
        lack = DISK_LACKS_QUOTA;
    else if (lacks_free(u, floor, r->full))
        lack = DISK_LACKS_FREE;
    r->full = lack != DISK_LACKS_NOTHING;
    return lack;
}

void disk_room_add(struct disk_room *r, int64_t bytes)
{
    if (!r->usage)
        return;
    r->usage->written += bytes;
    r->usage->spent += bytes;
}

const char *disk_room_root(const struct disk_room *r)
{
    return r->usage ? r->usage->root : "";
}

int64_t disk_room_used(const struct disk_room *r)
{
    return r->usage ? r->usage->found + r->usage->written : 0;
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
