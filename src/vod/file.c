/* SPDX-License-Identifier: MIT */
/* file.c - open files of a worker, identified by device and inode, and their indexes, whose memory
 * is limited. */
#include "base/container_of.h"
#include "base/list.h"
#include "base/log.h"
#include "base/must.h"
#include "base/text.h"
#include "co/os/file.h"
#include "vod/store.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- objects shared with helper threads */

struct vod_shared *vod_shared_new(int fd, struct demux_index *demux, struct demux_group *g)
{
    struct vod_shared *s = must(calloc(1, sizeof(*s)));

    *s = (struct vod_shared){ .refs = 1, .fd = fd, .demux = demux, .g = g };
    return s;
}

struct vod_shared *vod_shared_ref(struct vod_shared *s)
{
    atomic_fetch_add(&s->refs, 1);
    return s;
}

void vod_shared_unref(struct vod_shared *s)
{
    if (!s || atomic_fetch_sub(&s->refs, 1) > 1)
        return;
    if (s->fd >= 0)
        (void)close(s->fd);
    demux_close(s->demux);
    free(s->g);
    free(s);
}

/* ---- the list */

static struct vod_file **bucket(struct vod_files *files, uint64_t device, uint64_t inode)
{
    uint64_t h = (device * 31 + inode) * 0x9e3779b97f4a7c15u;

    return &files->buckets[h >> 32 & (VOD_BUCKETS - 1)];
}

static size_t index_bytes(const struct vod_file *f)
{
    return f->index ? sizeof(*f) + demux_info(f->index->demux)->memory : 0;
}

static void put_idle(struct vod_files *files, struct vod_file *f)
{
    f->older = files->newest;
    f->newer = NULL;
    *(files->newest ? &files->newest->newer : &files->oldest) = f;
    files->newest = f;
    files->idle += index_bytes(f);
}

static void take_idle(struct vod_files *files, struct vod_file *f)
{
    *(f->older ? &f->older->newer : &files->oldest) = f->newer;
    *(f->newer ? &f->newer->older : &files->newest) = f->older;
    files->idle -= index_bytes(f);
}

static void unlist(struct vod_file *f)
{
    if (!f->prev)
        return;
    LIST_TAKE(f);
}

static void free_file(struct vod_file *f)
{
    struct vod *v = f->vod;

    unlist(f);
    vod_cache_forget(v, f);
    v->files.bytes -= index_bytes(f);
    *v->memory -= index_bytes(f);
    v->files.n--;
    vod_shared_unref(f->disk);
    vod_shared_unref(f->index);
    free(f->name);
    free(f);
}

static void free_idle(struct vod *v, struct vod_file *f)
{
    take_idle(&v->files, f);
    free_file(f);
}

void vod_files_trim(struct vod *v)
{
    while (v->files.bytes > v->files.limit && v->files.oldest)
        free_idle(v, v->files.oldest);
}

void vod_files_free(struct vod *v)
{
    while (v->files.oldest)
        free_idle(v, v->files.oldest);
}

static bool is_it(const struct vod_file *f, const struct co_file *found)
{
    return f->device == found->device && f->inode == found->inode && f->size == found->size &&
           f->mtime_ns == found->mtime_ns;
}

static struct vod_file *find(struct vod *v, const struct co_file *found)
{
    struct vod_file *f = *bucket(&v->files, found->device, found->inode);

    while (f && !is_it(f, found))
        f = f->next;
    return f;
}

/* Makes sure that new players do not get the file as it was before it changed. */
static void forget_older(struct vod *v, const struct co_file *found)
{
    struct vod_file *f = *bucket(&v->files, found->device, found->inode), *next;

    for (; f; f = next) {
        next = f->next;
        if (f->refs == 0 && f->device == found->device && f->inode == found->inode)
            free_idle(v, f);
    }
}

static struct vod_file *add(struct vod *v, const struct co_file *found, const char *path)
{
    struct vod_file *f = must(calloc(1, sizeof(*f))), **head;

    forget_older(v, found);
    *f = (struct vod_file){ .vod = v, .device = found->device, .inode = found->inode,
                            .size = found->size, .mtime_ns = found->mtime_ns, .refs = 1,
                            .name = must_dup(path), .opened = co_wall_ms() * 1000,
                            .disk = vod_shared_new(found->fd, NULL, NULL) };
    head = bucket(&v->files, found->device, found->inode);
    LIST_PUT(head, f);
    v->files.n++;
    v->files.in_use++;
    return f;
}

struct vod_file *vod_file_ref(struct vod_file *f)
{
    if (f->refs++ == 0) {
        take_idle(&f->vod->files, f);
        f->vod->files.in_use++;
    }
    return f;
}

void vod_file_begin_play(struct vod_file *f)
{
    f->players++;
}

void vod_file_end_play(struct vod_file *f)
{
    f->players--;
}

struct vod_file *vod_file_unref(struct vod_file *f)
{
    if (!f || --f->refs > 0)
        return NULL;
    f->vod->files.in_use--;
    if (f->state != VOD_OPEN) {
        free_file(f);
        return NULL;
    }
    vod_shared_unref(f->disk);
    f->disk = NULL;
    put_idle(&f->vod->files, f);
    vod_files_trim(f->vod);
    return NULL;
}

/* ---- opening, on a helper thread */

struct vod_opener { /* on the stack of the coroutine that waits */
    struct vod_opener *next;
    struct co *co;
};

struct opening {
    struct vod_task task; /* first */
    struct vod_file *file; /* holds a reference */
};

struct open_job {
    struct vod_shared *disk;
    int64_t size;
    struct demux_limits limits;
    uint64_t bytes;
    /* results: */
    enum vod_way way;
    struct demux_index *index;
    enum demux_status status;
    const char *why;
};

/* EOPNOTSUPP and similar come from file systems in memory, or that do not know what is cached. */
static enum vod_way way_of(int fd)
{
    char c;
    struct iovec iov = { &c, 1 };
    struct statfs fs;

    if (preadv2(fd, &iov, 1, 0, RWF_NOWAIT) >= 0 || errno == EAGAIN)
        return VOD_TELLS;
    if (fstatfs(fd, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC))
        return VOD_IS_MEMORY;
    return VOD_IS_ELSEWHERE;
}

static void open_it(void *arg)
{
    struct open_job *j = arg;
    struct vod_input in;

    j->way = way_of(j->disk->fd);
    vod_input_init(&in, j->disk->fd, j->size, true, &j->bytes);
    j->status = demux_open(&j->index, &in.in, &j->limits, &j->why);
}

static void drop_open(void *arg)
{
    struct open_job *j = arg;

    demux_close(j->index);
    vod_shared_unref(j->disk);
    free(j);
}

static void tell_open(const struct vod_file *f, co_usec took)
{
    const struct demux_info *i = demux_info(f->index->demux);

    log_trace("vod: %s: %s, %s, %s, %lld ms, %u kbit/s, index %zu KB, opened in %lld ms", f->name,
              i->format, av_codec_name(i->tracks[DEMUX_VIDEO].codec),
              av_codec_name(i->tracks[DEMUX_AUDIO].codec), (long long)(i->duration / 90),
              i->kbps, i->memory >> 10, us_to_ms(took));
}

static void is_bad(struct vod_file *f, enum demux_status status, const char *why)
{
    f->state = VOD_BAD;
    f->status = status;
    f->why = why ? why : "";
    unlist(f);
    f->vod->stat.failed++;
}

/* True if the index fits into the limit, perhaps after freeing unused ones. */
static bool is_kept(struct vod_file *f)
{
    struct vod *v = f->vod;

    v->files.bytes += index_bytes(f);
    *v->memory += index_bytes(f);
    vod_files_trim(v);
    return v->files.bytes <= v->files.limit;
}

static void take_index(struct vod_file *f, struct open_job *j)
{
    struct vod *v = f->vod;

    v->stat.read_bytes += j->bytes;
    f->way = j->way;
    if (j->status != DEMUX_OK) {
        is_bad(f, j->status, j->why);
        return;
    }
    f->index = vod_shared_new(-1, j->index, NULL);
    j->index = NULL;
    if (is_kept(f))
        f->state = VOD_OPEN;
    else
        is_bad(f, DEMUX_TOO_LARGE, "with those of other files");
}

static void open_done(struct vod_file *f, err_t err, struct open_job *j, co_usec began)
{
    if (!err) {
        take_index(f, j);
        drop_open(j);
    } else {
        is_bad(f, DEMUX_AGAIN, err_code(err) == ERR_IO_TIMEOUT ? "the disk does not answer"
                                                               : "it could not be read");
    }
    if (f->state == VOD_OPEN)
        tell_open(f, co_now() - began);
    for (struct vod_opener *o = f->openers; o; o = o->next)
        co_unpark(o->co);
}

static void go(struct vod_task *t)
{
    struct opening *o = container_of(t, struct opening, task);
    struct vod_file *f = o->file;
    struct vod_files *files = &f->vod->files;
    struct open_job *j = must(calloc(1, sizeof(*j)));
    size_t used = files->bytes - files->idle;
    err_t err;

    *j = (struct open_job){ .disk = vod_shared_ref(f->disk), .size = f->size,
                            .limits.index_max = files->limit > used ? files->limit - used : 0 };
    err = vod_task_run(t, open_it, j, drop_open);
    open_done(f, err, j, t->due - VOD_DISK_TIME);
    err_free(&err);
    free(o);
    (void)vod_file_unref(f);
}

static void start_opening(struct vod_file *f)
{
    struct opening *o = must(calloc(1, sizeof(*o)));

    o->file = vod_file_ref(f);
    o->task = (struct vod_task){ .device = f->device, .due = co_now() + VOD_DISK_TIME, .go = go };
    vod_queue_put(&f->vod->queue, &o->task);
}

static err_t wait_open(struct vod_file *f)
{
    struct vod_opener own = { .next = f->openers, .co = co_self() }, **at = &f->openers;
    bool stopped = false;

    f->openers = &own;
    while (f->state == VOD_OPENING && !stopped)
        stopped = co_park(CO_FOREVER) == CO_STOPPED;
    while (*at != &own)
        at = &(*at)->next;
    *at = own.next;
    return stopped ? err_wrap(co_stop_why(), "opening %s", f->name) : NULL;
}

/* ---- opening, for players */

static err_t error_of(const struct vod_file *f)
{
    switch (f->status) {
    case DEMUX_AGAIN:
        return err_new(ERR_IO_TIMEOUT, "%s: %s", f->name, f->why);
    case DEMUX_TOO_LARGE:
        return err_new(ERR_TOO_MANY, "%s: its index is over index_max, %s", f->name, f->why);
    case DEMUX_NO_MEMORY:
        return err_new(ERR_NO_MEMORY, "%s", f->name);
    case DEMUX_IO:
        return err_new(ERR_SYSTEM, "%s cannot be read", f->name);
    default:
        return err_new(ERR_UNSUPPORTED, "%s: %s", f->name, f->why);
    }
}

/* Takes over the descriptor. */
static struct vod_file *share(struct vod_file *f, struct co_file *found)
{
    if (f->disk)
        co_file_close(found);
    else
        f->disk = vod_shared_new(found->fd, NULL, NULL);
    return vod_file_ref(f);
}

/* The device of each folder: opening a file in a folder whose device hangs must use the same queue
 * as reads from that device. */
enum { FOLDERS = 16 };
static _Thread_local struct {
    uint32_t hash;
    uint64_t device;
} folders[FOLDERS];

static err_t open_below_folder(struct co_file *found, const char *dir, const char *path)
{
    uint32_t hash = text_hash(dir), i = hash % FOLDERS;
    uint64_t device = folders[i].hash == hash ? folders[i].device : hash;
    err_t err = co_file_open_queue(found, dir, path, CO_POOL_VOD, vod_lane(device));

    if (!err) {
        folders[i].hash = hash;
        folders[i].device = found->device;
    }
    return err;
}

static err_t find_file(struct co_file *found, const char *dir, const char *path)
{
    err_t err = open_below_folder(found, dir, path);

    if (!err && found->is_folder) {
        co_file_close(found);
        err = err_new(ERR_NO_FILE, "%s is a folder", path);
    }
    return err;
}

/* Finds a recording that is still being written, which has a temporary name: sink/dvr/file.c. */
static err_t find_growing(struct co_file *found, const char *dir, const char *path)
{
    char *tmp = must_print("%s.tmp", path);
    err_t err = find_file(found, dir, tmp);

    free(tmp);
    return err;
}

static err_t open_below(struct vod_file **out, struct vod *vod, const char *folder,
                        const char *path)
{
    struct co_file found = { .fd = -1 };
    struct vod_file *f;
    err_t err = find_file(&found, folder, path), growing;

    *out = NULL;
    if (err_code(err) == ERR_NO_FILE) {
        growing = find_growing(&found, folder, path);
        err_free(growing ? &growing : &err);
    }
    if (err)
        return err;
    f = find(vod, &found);
    if (f) {
        f = share(f, &found);
    } else {
        f = add(vod, &found, path);
        start_opening(f);
    }
    if (f->state == VOD_OPENING)
        err = wait_open(f);
    if (!err && f->state == VOD_BAD)
        err = error_of(f);
    if (err)
        f = vod_file_unref(f);
    *out = f;
    return err;
}

err_t vod_file_open(struct vod_file **out, struct vod *vod, const struct conf_vhost *vhost,
                    const char *path)
{
    return open_below(out, vod, vhost->vod.dir, path);
}

err_t vod_file_open_path(struct vod_file **out, struct vod *vod, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = !slash ? must_dup(".") : must_ndup(path, (size_t)(slash - path) + 1);
    err_t err = open_below(out, vod, folder, slash ? slash + 1 : path);

    free(folder);
    return err;
}

const struct demux_info *vod_file_info(const struct vod_file *f)
{
    return demux_info(f->index->demux);
}

const struct demux_index *vod_file_index(const struct vod_file *f)
{
    return f->index->demux;
}

int64_t vod_file_opened(const struct vod_file *f)
{
    return f->opened;
}

const char *vod_file_name(const struct vod_file *f)
{
    return f->name;
}
