/* SPDX-License-Identifier: MIT */
/* vod.c - files on demand of a worker: start, configuration, counters and end. */
#include "vod/vod.h"

#include "base/container_of.h"
#include "base/must.h"
#include "co/thread.h"
#include "vod/store.h"

#include <stdlib.h>

/* ---- freeing memory when streams and all that is kept for them exceed their limit */

static size_t droppable(const struct live_evictable *k)
{
    return container_of(k, struct vod, keeper)->cache.idle;
}

static void cut(struct live_evictable *k)
{
    struct vod *v = container_of(k, struct vod, keeper);

    vod_cache_trim(v, v->cache.bytes - v->cache.idle / 2);
}

/* ---- */

struct vod *vod_new(struct live_registry *streams, const struct conf *conf, unsigned workers)
{
    static const struct live_evictable_ops how = { droppable, cut };
    struct vod *v = must(calloc(1, sizeof(*v)));

    v->memory = live_registry_counter(streams);
    live_evictable_open(&v->keeper, streams, "files on demand", &how);
    vod_queue_open(&v->queue);
    vod_reload(v, conf, workers);
    return v;
}

/* Sizes when no vhost enables vod: for ingested files. */
enum { CACHE = 128 << 20, INDEX = 64 << 20 };

/* Each worker gets its share of the configured sizes; the largest value of all vhosts counts.
 * */
void vod_reload(struct vod *v, const struct conf *conf, unsigned workers)
{
    const struct conf_vhosts *vhosts = &conf->vhost;
    int64_t cache = 0, index = 0;
    int readers = 0;

    for (size_t i = 0; i < vhosts->n; i++) {
        const struct conf_vhost *one = &vhosts->v[i];

        if (!one->vod.enabled)
            continue;
        cache = one->vod.cache > cache ? one->vod.cache : cache;
        index = one->vod.index_max > index ? one->vod.index_max : index;
        readers = one->vod.readers > readers ? one->vod.readers : readers;
    }
    v->cache.limit = (size_t)(cache ? cache : CACHE) / workers;
    v->files.limit = (size_t)(index ? index : INDEX) / workers;
    if (readers > 0)
        co_threads_limit(CO_POOL_VOD, readers);
    vod_cache_trim(v, v->cache.limit);
    vod_files_trim(v);
}

void vod_free(struct vod *v)
{
    vod_queue_close(&v->queue);
    vod_refused_end(&v->refused);
    live_evictable_close(&v->keeper);
    vod_files_free(v);
    vod_pack_free(&v->scratch);
    free(v);
}

void vod_stat(const struct vod *v, struct vod_stat *out)
{
    *out = v->stat;
    out->files = v->files.in_use;
    out->index_bytes = v->files.bytes;
    out->index_limit = v->files.limit;
    out->cache_bytes = v->cache.bytes;
    out->cache_limit = v->cache.limit;
}
