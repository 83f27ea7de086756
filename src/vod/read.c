/* SPDX-License-Identifier: MIT */
/* read.c - reads samples of a group, on a helper thread that may wait for the disk or at once from
 * the page cache, and renders parts from them. */
#include "base/must.h"
#include "vod/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>

enum { ONCE = 128 * 1024 };

struct vod_read *vod_read_new(struct vod_file *f, struct vod_at at, struct vod_request want,
                              struct vod_shared *group)
{
    struct vod_read *r = must(calloc(1, sizeof(*r)));

    *r = (struct vod_read){
        .file = f, .disk = vod_shared_ref(f->disk), .index = vod_shared_ref(f->index),
        .group = group, .size = f->size, .at = at, .want = want, .kbps = vod_file_info(f)->kbps,
    };
    return r;
}

void vod_read_free(void *arg)
{
    struct vod_read *r = arg;

    if (!r)
        return;
    vod_shared_unref(r->disk);
    vod_shared_unref(r->index);
    vod_shared_unref(r->group);
    vod_pack_free(&r->pack);
    free(r);
}

/* ---- any thread */

/* Lets the kernel start reading the bytes after these, too. */
static void read_ahead(const struct vod_read *r)
{
    for (unsigned i = r->cut.begin; i < r->cut.end; i++) {
        if (r->want.tracks & (1u << r->group->g->v[i].track)) {
            (void)posix_fadvise(r->disk->fd, r->group->g->v[i].at,
                                (off_t)(r->cut.bytes + vod_second(r->kbps)), POSIX_FADV_WILLNEED);
            return;
        }
    }
}

/* `once`: on the worker's thread, where large parts are never read, cached or not. */
static void read_part(struct vod_read *r, bool once, bool wait)
{
    struct demux_group *g = NULL;
    struct vod_input in;

    vod_input_init(&in, r->disk->fd, r->size, wait, &r->bytes);
    if (!r->group) {
        r->status = demux_group(&g, r->index->demux, &in.in, r->at.place, &r->why);
        if (r->status != DEMUX_OK)
            return;
        r->group = vod_shared_new(-1, NULL, g);
        r->has_read_group = true;
    }
    r->cut = vod_cut_find(r->group->g, r->want, r->at.part);
    if (!once)
        read_ahead(r);
    r->status = once && r->cut.bytes > ONCE
                    ? DEMUX_AGAIN : vod_pack_read(&r->pack, r->group->g, &r->cut, r->want, &in);
}

static void read_waiting(void *arg)
{
    read_part(arg, false, true);
}

/* ---- the worker's thread */

err_t vod_read_run(struct vod_read *r, const struct vod_task *t)
{
    struct vod *v = r->file->vod;
    err_t err = vod_task_run(t, read_waiting, r, vod_read_free);

    if (!err)
        v->stat.read_bytes += r->bytes;
    return err;
}

enum demux_status vod_read_part(const struct vod_read *r, const struct vod_wire_use *use,
                                const struct vod_numbers *from, struct vod_cached **out)
{
    if (r->has_read_group)
        vod_cache_put_group(r->file->vod, r->file, r->group);
    if (r->status != DEMUX_OK)
        return r->status;
    *out = vod_render(r->file, use, &r->at, from, r->group->g, &r->cut, &r->pack);
    return *out ? DEMUX_OK : DEMUX_NO_MEMORY;
}

bool vod_is_cached(const struct vod_file *f, int64_t at)
{
    char c;
    struct iovec iov = { &c, 1 };

    return preadv2(f->disk->fd, &iov, 1, at, RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

enum demux_status vod_read_cached(struct vod_file *f, const struct vod_wire_use *use,
                                  const struct vod_at *at, const struct vod_numbers *from,
                                  struct vod_cached **out, const char **why)
{
    struct vod *v = f->vod;
    struct vod_read r = { .file = f, .disk = f->disk, .index = f->index, .size = f->size,
                          .at = *at, .want = vod_request_of(use, vod_file_info(f)),
                          .pack = v->scratch };
    enum demux_status status;

    if (f->way == VOD_IS_ELSEWHERE)
        return DEMUX_AGAIN;
    r.group = vod_cache_group(v, f, at->place);
    read_part(&r, true, f->way == VOD_IS_MEMORY);
    status = vod_read_part(&r, use, from, out);
    v->scratch = r.pack;
    v->stat.read_bytes += r.bytes;
    vod_shared_unref(r.group);
    *why = r.why;
    return status;
}
