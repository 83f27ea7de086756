/* SPDX-License-Identifier: MIT */
/* read_cached.c - parts made at once from what the kernel has in memory. */
#include "vod/store.h"

#include <errno.h>
#include <sys/uio.h>

/* Larger parts are not read on the thread of the coroutines, in memory or not. */
enum { ONCE = 128 * 1024 };

bool vod_is_cached(const struct vod_file *f, int64_t at)
{
    char c;
    struct iovec iov = { &c, 1 };

    return preadv2(f->disk->fd, &iov, 1, at, RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

static enum demux_status group_now(struct vod_file *f, demux_place place,
                                   const struct vod_input *in, struct vod_group **out,
                                   const char **why)
{
    struct demux_group *g = NULL;
    enum demux_status status;

    *out = vod_cache_group(f->vod, f, place);
    if (*out)
        return DEMUX_OK;
    status = demux_group(&g, f->index->demux, &in->in, place, why);
    if (status != DEMUX_OK)
        return status;
    *out = vod_group_new(g);
    vod_cache_put_group(f->vod, f, *out);
    return DEMUX_OK;
}

enum demux_status vod_read_cached(struct vod_file *f, const struct vod_wire_use *use,
                                  const struct vod_at *at, const struct vod_numbers *from,
                                  struct vod_cached **out, const char **why)
{
    struct vod *v = f->vod;
    struct vod_group *g = NULL;
    struct vod_input in;
    const struct vod_want want = vod_want_of(use, vod_file_info(f));
    struct vod_cut cut;
    enum demux_status status;

    vod_input_init(&in, f->disk->fd, f->size, f->way == VOD_IS_MEMORY,
                   &v->stat.read_bytes);
    if (f->way == VOD_IS_ELSEWHERE)
        return DEMUX_AGAIN;
    status = group_now(f, at->place, &in, &g, why);
    if (status != DEMUX_OK)
        return status;
    cut = vod_cut_find(g->g, want, at->part);
    status = cut.bytes > ONCE ? DEMUX_AGAIN
                              : vod_pack_read(&v->scratch, g->g, &cut, want, &in);
    if (status == DEMUX_OK) {
        *out = vod_render(f, use, at, from, g->g, &cut, &v->scratch);
        status = *out ? DEMUX_OK : DEMUX_NO_MEMORY;
    }
    vod_group_unref(g);
    return status;
}
