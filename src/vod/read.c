/* SPDX-License-Identifier: MIT */
/* read.c - samples of a group, read by a helper thread that may wait for the disk. */
#include "base/must.h"
#include "vod/store.h"

#include <fcntl.h>
#include <stdlib.h>

struct vod_read *vod_read_new(struct vod_file *f, struct vod_at at, struct vod_want want,
                              struct vod_group *group)
{
    struct vod_read *r = must(calloc(1, sizeof(*r)));

    *r = (struct vod_read){
        .file = f, .disk = vod_disk_ref(f->disk), .index = vod_index_ref(f->index),
        .group = group, .size = f->size, .at = at, .want = want, .kbps = vod_file_info(f)->kbps,
    };
    return r;
}

void vod_read_free(void *arg)
{
    struct vod_read *r = arg;

    if (!r)
        return;
    vod_disk_unref(r->disk);
    vod_index_unref(r->index);
    vod_group_unref(r->group);
    vod_pack_free(&r->pack);
    free(r);
}

/* ---- on a helper thread */

static void read_group(struct vod_read *r, const struct vod_input *in)
{
    struct demux_group *g = NULL;

    r->status = demux_group(&g, r->index->demux, &in->in, r->at.place, &r->why);
    if (r->status != DEMUX_OK)
        return;
    r->group = vod_group_new(g);
    r->has_read_group = true;
}

/* The kernel begins with what comes behind it, too. */
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

static void read_part(void *arg)
{
    struct vod_read *r = arg;
    struct vod_input in;

    vod_input_init(&in, r->disk->fd, r->size, true, &r->bytes);
    if (!r->group)
        read_group(r, &in);
    if (!r->group)
        return;
    r->cut = vod_cut_find(r->group->g, r->want, r->at.part);
    read_ahead(r);
    r->status = vod_pack_read(&r->pack, r->group->g, &r->cut, r->want, &in);
}

/* ---- */

err_t vod_read_run(struct vod_read *r, const struct vod_task *t)
{
    struct vod *v = r->file->vod;
    err_t err = vod_task_run(t, read_part, r, vod_read_free);

    if (!err)
        v->stat.read_bytes += r->bytes;
    return err;
}
