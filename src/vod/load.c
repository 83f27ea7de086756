/* SPDX-License-Identifier: MIT */
/* load.c - gets parts: from the cache, rendered at once, or read by helper threads (read.c). */
#include "base/container_of.h"
#include "base/list.h"
#include "base/log.h"
#include "base/must.h"
#include "vod/store.h"

#include <fcntl.h>
#include <stdlib.h>

enum { AHEAD = 4 }; /* seconds of a file that one read ahead covers */

/* How often a part checks whether the bytes after it are in memory. */
#define LOOK_EVERY CO_MS(500)
/* The shortest time between log lines about a file that cannot be read. */
#define TELL_EVERY CO_SECONDS(10)

/* ---- a load: one part, with the players that wait for it */

enum load_state { WAITS, RUNS, IS_THERE };

struct vod_load {
    struct vod_task task;               /* first */
    struct vod_load *next, **prev;      /* in the list of its file */
    struct vod_file *file;              /* holds a reference */
    struct vod_wire_use use;
    struct vod_at at;
    struct vod_numbers from;
    struct vod_wait *waiters;
    enum load_state state;
    bool calls;                         /* on_part() calls are under way: do not free it */
    co_usec since;
    struct vod_cached *part;            /* NULL: it failed */
};

static void tell(struct vod_file *f, const char *why)
{
    co_usec now = co_now();

    f->vod->stat.failed++;
    if (f->told_at && now - f->told_at < TELL_EVERY)
        return;
    f->told_at = now;
    log_warn("vod: %s cannot be read: %s", f->name, why);
}

static const char *words(enum demux_status status, const char *why)
{
    if (why)
        return why;
    switch (status) {
    case DEMUX_IO:
        return "the disk failed";
    case DEMUX_NO_MEMORY:
        return "no memory";
    case DEMUX_TOO_LARGE:
        return "a frame is too large";
    case DEMUX_END:
        return "there is no such place";
    default:
        return "it became shorter";
    }
}

/* ---- end of a load */

static void free_load(struct vod_load *l)
{
    struct vod_file *f = l->file;

    LIST_TAKE(l);
    if (l->part)
        vod_cached_unref(l->part);
    free(l);
    (void)vod_file_unref(f);
}

static void free_if_done(struct vod_load *l)
{
    if (!l->waiters && l->state == IS_THERE && !l->calls)
        free_load(l);
}

/* Logs one line for each player that waited long, unless it already has one. */
static void tell_slow(struct vod_load *l)
{
    co_usec now = co_now(), longest = 0;
    unsigned n = 0;

    for (struct vod_wait *w = l->waiters; w; w = w->next) {
        if (now - w->since < VOD_SLOW || w->told)
            continue;
        w->told = true;
        longest = now - w->since > longest ? now - w->since : longest;
        n++;
    }
    if (n > 0)
        log_warn("vod: %s: %u player(s) waited %lld ms for the disk", l->file->name, n,
                 us_to_ms(longest));
}

static void link_wait(struct vod_load *l, struct vod_wait *w)
{
    w->load = l;
    LIST_PUT(&l->waiters, w);
}

static void unlink_wait(struct vod_wait *w)
{
    LIST_TAKE(w);
    w->load = NULL;
}

/* Calls each waiter once. During a call other waiters may leave, and the called one may take the
 * part. */
static void call_waiters(struct vod_load *l)
{
    struct vod_wait *todo = l->waiters, *w;

    l->calls = true;
    l->waiters = NULL;
    if (todo)
        todo->prev = &todo;
    while ((w = todo)) {
        unlink_wait(w);
        link_wait(l, w);
        w->on_part(w);
    }
    l->calls = false;
}

static void read_it(struct vod_load *l)
{
    struct vod_file *f = l->file;
    struct vod_read *r = vod_read_new(f, l->at, vod_request_of(&l->use, vod_file_info(f)),
                                      vod_cache_group(f->vod, f, l->at.place));
    err_t err = vod_read_run(r, &l->task);
    enum demux_status status;

    if (!err) {
        status = vod_read_part(r, &l->use, &l->from, &l->part);
        if (status != DEMUX_OK)
            tell(f, words(status, r->why));
        vod_read_free(r);
    } else if (err_code(err) == ERR_IO_TIMEOUT) {
        tell(f, "the disk does not answer");
    } else if (!co_stop_asked()) {
        tell(f, "no helper thread could be had");
    }
    err_free(&err);
}

static void go(struct vod_task *t)
{
    struct vod_load *l = container_of(t, struct vod_load, task);

    l->state = RUNS;
    l->part = vod_cache_find(l->file->vod, l->file, &l->use, &l->at);
    if (!l->part)
        read_it(l);
    l->state = IS_THERE;
    tell_slow(l);
    call_waiters(l);
    free_if_done(l);
}

/* ---- waiting */

static struct vod_load *find_load(const struct vod_file *f, const struct vod_wire_use *use,
                                  const struct vod_at *at)
{
    struct vod_load *l = f->loads;

    while (l && (l->state == IS_THERE || l->at.place != at->place || l->at.part != at->part ||
                 !vod_use_same(&l->use, use)))
        l = l->next;
    return l;
}

static struct vod_load *start_load(struct vod_file *f, const struct vod_wire_use *use,
                                   const struct vod_at *at, const struct vod_numbers *from)
{
    struct vod_load *l = must(calloc(1, sizeof(*l)));

    l->task = (struct vod_task){ .device = f->device, .due = co_now() + VOD_DISK_TIME, .go = go };
    LIST_PUT(&f->loads, l);
    l->file = vod_file_ref(f);
    l->use = *use;
    l->at = *at;
    l->from = *from;
    l->since = co_now();
    vod_queue_put(&f->vod->queue, &l->task);
    return l;
}

static void wait_for(struct vod_load *l, struct vod_wait *w)
{
    w->since = co_now();
    l->file->vod->stat.waited++;
    link_wait(l, w);
}

void vod_wait_end(struct vod_wait *w)
{
    struct vod_load *l = w->load;

    if (!l)
        return;
    if (l->state != IS_THERE)
        tell_slow(l);
    unlink_wait(w);
    if (!l->waiters && l->state == WAITS) { /* it was not started */
        vod_queue_take(&l->file->vod->queue, &l->task);
        free_load(l);
        return;
    }
    free_if_done(l);
}

/* Gives the requested part, with a reference; NULL: the load failed. */
static enum vod_got take_load(struct vod_wait *w, struct vod_cached **part)
{
    struct vod_load *l = w->load;

    if (l->state != IS_THERE)
        return VOD_WAIT;
    *part = l->part ? vod_cached_ref(l->part) : NULL;
    unlink_wait(w);
    free_if_done(l);
    return *part ? VOD_READY : VOD_FAILED;
}

/* ---- read ahead */

struct vod_ahead {
    struct vod_task task; /* first */
    struct vod_ahead *next, **prev; /* in the list of its file */
    struct vod_file *file; /* holds a reference */
    int64_t at, size;
};

struct ahead_job {
    struct vod_shared *disk;
    int64_t at, size;
};

static void advise(void *arg)
{
    const struct ahead_job *j = arg;

    (void)posix_fadvise(j->disk->fd, j->at, j->size, POSIX_FADV_WILLNEED);
}

static void drop_ahead(void *arg)
{
    struct ahead_job *j = arg;

    vod_shared_unref(j->disk);
    free(j);
}

static void go_ahead(struct vod_task *t)
{
    struct vod_ahead *a = container_of(t, struct vod_ahead, task);
    struct vod_file *f = a->file;
    struct ahead_job *j = must(calloc(1, sizeof(*j)));
    err_t err;

    *j = (struct ahead_job){ vod_shared_ref(f->disk), a->at, a->size };
    err = vod_task_run(t, advise, j, drop_ahead);
    if (!err)
        drop_ahead(j);
    err_free(&err);
    LIST_TAKE(a);
    free(a);
    (void)vod_file_unref(f);
}

/* Queues a read ahead; false if too many are queued. */
static bool read_on(struct vod_file *f, int64_t at, int64_t n)
{
    struct vod_ahead *a = f->ahead;

    while (a && (at < a->at || at >= a->at + a->size))
        a = a->next;
    if (a || f->vod->queue.n_ahead >= VOD_AHEAD_MOST)
        return a != NULL;
    a = must(calloc(1, sizeof(*a)));
    *a = (struct vod_ahead){ .file = vod_file_ref(f), .at = at, .size = n };
    a->task = (struct vod_task){ .device = f->device, .ahead = true, .go = go_ahead,
                                 .due = co_now() + VOD_DISK_TIME };
    LIST_PUT(&f->ahead, a);
    vod_queue_put(&f->vod->queue, &a->task);
    return true;
}

/* The file is in memory, or requested, up to `there`. If less than a second of it is left, requests
 * the next AHEAD seconds, unless their last byte is already in memory. The check itself makes the
 * kernel read a page if it is missing. */
static void check_ahead(struct vod_file *f, int64_t at, int64_t *there)
{
    int64_t n = (int64_t)vod_second(vod_file_info(f)->kbps), to;

    if (at >= f->size || (*there - at >= n && *there - at <= (AHEAD + 1) * n))
        return;
    if (*there < at || *there - at > (AHEAD + 1) * n)
        *there = at;
    to = *there + AHEAD * n;
    if (*there >= f->size || vod_is_cached(f, (to < f->size ? to : f->size) - 1) ||
        read_on(f, *there, AHEAD * n))
        *there = to;
}

/* Reads ahead after the bytes that each track has in the part. The tracks are usually near each
 * other. */
static void look_ahead(struct vod_file *f, struct vod_cached *one, struct vod_wait *w)
{
    int64_t video = one->ends[DEMUX_VIDEO], audio = one->ends[DEMUX_AUDIO];
    int64_t apart = video > audio ? video - audio : audio - video;
    co_usec now = co_now();

    if (f->way != VOD_TELLS || (one->looked_at && now - one->looked_at < LOOK_EVERY))
        return;
    one->looked_at = now;
    if (video && audio && apart < VOD_SECOND_LEAST) {
        check_ahead(f, video > audio ? video : audio, &w->there[DEMUX_VIDEO]);
        return;
    }
    if (video)
        check_ahead(f, video, &w->there[DEMUX_VIDEO]);
    if (audio)
        check_ahead(f, audio, &w->there[DEMUX_AUDIO]);
}

/* ---- a part */

static bool waits_for(const struct vod_wait *w, const struct vod_file *f,
                      const struct vod_wire_use *use, const struct vod_at *at)
{
    const struct vod_load *l = w->load;

    return l && l->file == f && l->at.place == at->place && l->at.part == at->part &&
           vod_use_same(&l->use, use);
}

static enum vod_got get(struct vod_file *f, const struct vod_wire_use *use,
                        const struct vod_at *at, const struct vod_numbers *from,
                        struct vod_wait *w, struct vod_cached **part)
{
    struct vod_load *l;
    enum demux_status status;
    const char *why = NULL;

    *part = vod_cache_find(f->vod, f, use, at);
    f->vod->stat.parts_shared += *part != NULL;
    l = *part ? NULL : find_load(f, use, at);
    if (*part)
        return VOD_READY;
    status = l ? DEMUX_AGAIN : vod_read_cached(f, use, at, from, part, &why);
    if (status == DEMUX_OK)
        return VOD_READY;
    if (status != DEMUX_AGAIN) {
        tell(f, words(status, why));
        return VOD_FAILED;
    }
    wait_for(l ? l : start_load(f, use, at, from), w);
    return VOD_WAIT;
}

enum vod_got vod_part_get(struct vod_file *f, const struct vod_wire_use *use,
                          const struct vod_at *at, const struct vod_numbers *from,
                          struct vod_wait *w, const struct vod_part **out)
{
    struct vod_cached *part = NULL;
    enum vod_got got;

    *out = NULL;
    if (waits_for(w, f, use, at)) {
        got = take_load(w, &part);
    } else {
        vod_wait_end(w);
        got = get(f, use, at, from, w, &part);
    }
    if (got != VOD_READY)
        return got;
    look_ahead(f, part, w);
    *out = &part->part;
    return VOD_READY;
}
