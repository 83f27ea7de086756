/* SPDX-License-Identifier: MIT */
/* fetch.c - what one plays alone, and for the first time, is read past the kernel's memory.
 *
 * The kernel would keep it for nobody, and it costs much to have it do so. A file has a stretch of
 * itself in memory of ours instead, in front of who plays it: parts are made of that at once. When
 * less than a part is left more is asked for; what is asked for within a while is read together,
 * which costs a fraction of as many reads alone. Who plays a file again, or is not alone, has the
 * kernel read it: then it is likely to be wanted once more.
 */
#include "base/container_of.h"
#include "base/must.h"
#include "co/os/direct.h"
#include "vod/store.h"

#include <stdlib.h>

/* How long others are waited for: by who needs it soon, and by who stands and waits. */
#define GATHER CO_MS(50)
#define GATHER_NOW CO_MS(2)
/* So long before it is needed it is asked for: what comes earlier takes room. */
#define EARLY CO_MS(130)

/* LEAST: less is not worth it. MOST: so that it comes soon also where all ask at once. GAP: what is
 * left at least when more is asked for, beside a part. */
enum { AT_ONCE = 64, LEAST = 3 * VOD_BLOCK, MOST = 8 * VOD_BLOCK, GAP = 4 * 1024 };

struct vod_fetch {
    struct vod_fetch *next; /* of those that are asked for */
    struct vod_file *file;  /* with a reference while it is read */
    struct vod_held held;
    struct co_timer timer;  /* until it is asked for */
    int64_t at;             /* what is read: from there, */
    size_t size;            /* so much */
    bool under_way;
    bool over;              /* goes as soon as it has been read */
};

/* ---- blocks: counted with the cache, which leaves some room for what else it is to have */

static void count(struct vod *v)
{
    struct vod_fetches *x = &v->fetches;
    size_t now = x->blocks ? vod_blocks_bytes(x->blocks) : 0, more = now - x->counted;

    v->cache.bytes += more; /* or less */
    *v->memory += more;
    x->counted = now;
}

static size_t room(const struct vod *v)
{
    return v->cache.limit - v->cache.limit / 8;
}

static uint8_t *take_block(struct vod *v)
{
    struct vod_fetches *x = &v->fetches;
    size_t others = v->cache.bytes - v->cache.idle - x->counted;
    uint8_t *block;

    if (!x->blocks)
        x->blocks = vod_blocks_new();
    block = vod_blocks_take(x->blocks, others < room(v) ? room(v) - others : 0);
    count(v);
    return block;
}

static void give_block(struct vod *v, uint8_t *block)
{
    vod_blocks_give(v->fetches.blocks, block);
    count(v);
}

/* ---- what is held of a file */

static void drop_below(struct vod_fetch *x, int64_t at)
{
    uint8_t *b;

    while ((b = vod_held_pop(&x->held, at)))
        give_block(x->file->vod, b);
    if (x->held.n == 0)
        x->held.at = x->held.end = 0;
}

/* What the blocks of r have is behind what is held. Those that are not needed are given back. */
static bool append(struct vod_fetch *x, struct co_direct_read *r)
{
    struct vod_held *h = &x->held;
    int64_t left = x->file->size - x->at;
    ssize_t got = r->got > left ? (ssize_t)left : r->got;

    if (got < left) /* not to its end: whole blocks */
        got = got > 0 ? got / VOD_BLOCK * VOD_BLOCK : 0;
    if (got == 0)
        return false;
    if (h->n == 0)
        h->at = x->at;
    h->end = x->at + got;
    for (int i = 0; i < r->n && h->n * (int64_t)VOD_BLOCK < h->end - h->at; i++) {
        h->blocks[h->n++] = r->v[i].iov_base;
        r->v[i].iov_base = NULL;
    }
    x->file->vod->stat.read_bytes += (uint64_t)got;
    return true;
}

static void free_fetch(struct vod_file *f)
{
    struct vod_fetch *x = f->fetch;

    co_timer_cancel(&x->timer);
    drop_below(x, INT64_MAX);
    f->vod->fetches.files--;
    f->fetch = NULL;
    free(x);
}

void vod_fetch_end(struct vod_file *f)
{
    if (f->fetch && f->fetch->under_way)
        f->fetch->over = true;
    else if (f->fetch)
        free_fetch(f);
}

void vod_fetch_never(struct vod_file *f)
{
    f->again = true;
    vod_fetch_end(f);
}

/* ---- reading, by a helper thread */

struct job {
    struct vod_blocks *blocks;
    unsigned n;
    struct co_direct_read v[AT_ONCE];
    struct vod_disk *disks[AT_ONCE];
};

struct batch {
    struct vod_task task; /* first */
    unsigned n;
    struct vod_fetch *v[AT_ONCE];
};

static void read_job(void *arg)
{
    struct job *j = arg;

    co_direct_read(j->v, j->n);
}

static void drop_job(void *arg)
{
    struct job *j = arg;

    for (unsigned i = 0; i < j->n; i++) {
        for (int k = 0; k < j->v[i].n; k++)
            vod_blocks_return(j->blocks, j->v[i].v[k].iov_base);
        vod_disk_unref(j->disks[i]);
    }
    vod_blocks_unref(j->blocks);
    free(j);
}

static struct job *new_job(const struct batch *b)
{
    struct job *j = must(calloc(1, sizeof(*j)));

    for (j->n = 0; j->n < b->n; j->n++) {
        const struct vod_fetch *x = b->v[j->n];
        struct co_direct_read *r = &j->v[j->n];
        uint8_t *block;

        j->disks[j->n] = vod_disk_ref(x->file->disk);
        r->fd = x->file->disk->direct;
        r->at = x->at;
        while ((size_t)r->n * VOD_BLOCK < x->size && (block = take_block(x->file->vod)))
            r->v[r->n++] = (struct iovec){ block, VOD_BLOCK };
    }
    j->blocks = vod_blocks_ref(b->v[0]->file->vod->fetches.blocks);
    return j;
}

/* r: what was read; NULL: nothing. */
static void done(struct vod_fetch *x, struct co_direct_read *r)
{
    struct vod_file *f = x->file;
    bool refused = r && r->got < 0;

    x->under_way = false;
    if (r && !x->over && !refused)
        (void)append(x, r);
    for (int i = 0; r && i < r->n; i++) {
        if (r->v[i].iov_base)
            give_block(f->vod, r->v[i].iov_base);
    }
    if (r)
        r->n = 0;
    if (refused)
        f->again = true;
    if (x->over || refused)
        free_fetch(f);
    vod_load_fetched(f);
    (void)vod_file_unref(f);
}

static void go(struct vod_task *t)
{
    struct batch *b = container_of(t, struct batch, task);
    struct vod *v = b->v[0]->file->vod;
    struct job *j = new_job(b);
    err_t err;

    vod_cache_trim(v, v->cache.limit);
    err = vod_task_run(t, read_job, j, drop_job);
    for (unsigned i = 0; i < b->n; i++)
        done(b->v[i], err ? NULL : &j->v[i]);
    if (!err)
        drop_job(j);
    err_free(&err);
    free(b);
}

/* ---- asking for it */

/* All of a device that wait, as many as go into one. */
static struct batch *new_batch(struct vod_fetches *x)
{
    struct batch *b = must(calloc(1, sizeof(*b)));
    struct vod_fetch **at = &x->first;
    uint64_t device = x->first->file->device;

    b->task = (struct vod_task){ .device = device, .due = co_now() + VOD_DISK_TIME, .go = go };
    while (*at && b->n < AT_ONCE) {
        if ((*at)->file->device != device) {
            at = &(*at)->next;
            continue;
        }
        b->v[b->n++] = *at;
        *at = (*at)->next;
    }
    return b;
}

static void put_all(struct vod *v)
{
    while (v->fetches.first)
        vod_queue_put(&v->queue, &new_batch(&v->fetches)->task);
}

static void on_gathered(struct co_timer *t)
{
    put_all(container_of(t, struct vod, fetches.timer));
}

/* In the order in which they ask. */
static void ask(struct vod_fetch *x, co_usec within)
{
    struct vod *v = x->file->vod;
    struct vod_fetch **at = &v->fetches.first;
    co_usec due = co_now() + within;

    if (!*at || due < v->fetches.timer.due)
        co_timer_set(&v->fetches.timer, due, on_gathered);
    while (*at)
        at = &(*at)->next;
    *at = x;
    x->next = NULL;
    x->under_way = true;
    co_timer_cancel(&x->timer);
    (void)vod_file_ref(x->file);
}

static void on_time(struct co_timer *t)
{
    ask(container_of(t, struct vod_fetch, timer), GATHER);
}

void vod_fetches_close(struct vod *v)
{
    co_timer_cancel(&v->fetches.timer);
    put_all(v);
}

void vod_fetches_free(struct vod *v)
{
    vod_blocks_unref(v->fetches.blocks);
    v->fetches.blocks = NULL;
    count(v);
}

/* ---- what is wanted */

/* At the mean about so much is held of a file, with what comes before it is needed and what is left
 * of a block; all of them have room for that. 0: it is too little. */
static size_t piece(const struct vod_file *f)
{
    size_t n = f->vod->fetches.files + (f->fetch == NULL), size = room(f->vod) / n;

    size = size / VOD_BLOCK * VOD_BLOCK;
    return size < LEAST ? 0 : size > MOST ? MOST : size;
}

bool vod_fetch_may(const struct vod_file *f)
{
    return f->way == VOD_TELLS && f->disk && f->disk->direct >= 0 && !f->again &&
           f->players == 1 && piece(f) > 0 && !(f->fetch && f->fetch->over);
}

static struct vod_fetch *fetch_of(struct vod_file *f)
{
    if (f->fetch)
        return f->fetch;
    f->fetch = must(calloc(1, sizeof(*f->fetch)));
    f->fetch->file = f;
    f->vod->fetches.files++;
    return f->fetch;
}

/* What is below that place is not needed, and what comes behind goes on from what is held. */
static void move_to(struct vod_fetch *x, int64_t at)
{
    drop_below(x, at < x->held.at || at > x->held.end ? INT64_MAX : at);
    x->at = x->held.n > 0 ? x->held.end : at / CO_DIRECT_ALIGN * CO_DIRECT_ALIGN;
}

static size_t whole_blocks(int64_t size)
{
    return (size_t)(size + VOD_BLOCK - 1) / VOD_BLOCK * VOD_BLOCK;
}

bool vod_fetch_now(struct vod_file *f, int64_t from, int64_t to)
{
    struct vod_fetch *x;

    if (!vod_fetch_may(f))
        return false;
    x = fetch_of(f);
    if (x->under_way)
        return true;
    move_to(x, from);
    x->size = whole_blocks(to - x->at);
    if (to <= x->at || x->held.n + x->size / VOD_BLOCK > VOD_HELD_BLOCKS) {
        vod_fetch_never(f); /* what belongs together is too far apart, or is not what it was */
        return false;
    }
    x->size = x->size < piece(f) ? piece(f) : x->size;
    ask(x, GATHER_NOW);
    return true;
}

void vod_fetch_ahead(struct vod_file *f, int64_t from, size_t part)
{
    co_usec turn = vod_turn(vod_file_info(f)->kbps);
    struct vod_fetch *x;

    if (!vod_fetch_may(f)) {
        vod_fetch_end(f);
        return;
    }
    x = fetch_of(f);
    if (x->under_way || from >= f->size || x->timer.prev)
        return;
    move_to(x, from);
    if (x->at >= f->size || x->held.end - from >= (int64_t)part + GAP)
        return;
    x->size = piece(f);
    if (x->held.n + x->size / VOD_BLOCK <= VOD_HELD_BLOCKS)
        co_timer_set(&x->timer, co_now() + (turn > EARLY ? turn - EARLY : 0), on_time);
}

const struct vod_held *vod_fetch_held(const struct vod_file *f)
{
    const struct vod_fetch *x = f->fetch;

    return x && !x->over && (x->held.n > 0 || x->under_way) ? &x->held : NULL;
}

bool vod_fetch_hurry(struct vod_file *f)
{
    struct vod_fetch *x = f->fetch;

    if (x && x->timer.prev)
        ask(x, GATHER_NOW);
    return x && x->under_way;
}

bool vod_fetch_is_under_way(const struct vod_file *f)
{
    return f->fetch && f->fetch->under_way;
}
