/* SPDX-License-Identifier: MIT */
/* stream.c - creates and ends the recording of a stream. */
#include "sink/dvr/stream.h"

#include "base/container_of.h"
#include "base/list.h"
#include "base/log.h"
#include "base/must.h"
#include "base/random_id.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_LIMIT = 96 << 20, HEADER_LIMIT = 1 << 20 };

/* The growing block counts in the memory of streams. */
static struct dvr_stream *stream_of(const struct live_evictable *k)
{
    return container_of(k, struct dvr_stream, keeper);
}

static size_t droppable(const struct live_evictable *k)
{
    const struct dvr_stream *s = stream_of(k);

    return blocks_len(&s->block) + mp4_frag_bytes(&s->mp4);
}

/* Drops the block, as if the disk refused it; the recording continues at the next key frame. */
static void cut(struct live_evictable *k)
{
    struct dvr_stream *s = stream_of(k);

    block_cache_return(s->cache, &s->block);
    mp4_frag_drop(&s->mp4);
    s->file_lost = true;
    s->block_key = false;
}

static const struct live_evictable_ops keeping = { droppable, cut };

struct dvr_stream *dvr_stream_new(struct dvrs *d, const struct session_stream *names,
                                  struct conf *conf, const struct conf_dvr *set)
{
    struct dvr_stream *s = must(calloc(1, sizeof(*s)));

    ref_init(&s->ref);
    s->dvrs = d;
    s->key = session_stream_key(names);
    s->conf = conf_ref(conf);
    s->set = set;
    s->cache = block_cache_ref(d->cache);
    blocks_init(&s->block, BLOCK_LIMIT, &s->cache->blocks);
    wr_init(&s->header, HEADER_LIMIT);
    mp4_frag_init(&s->mp4, DVR_FRAGMENT_MAX, &s->cache->blocks);
    disk_lane_init(&s->lane, d->disk);
    disk_room_open(&s->room, d->disk, set->path);
    s->quota = set->quota;
    random_id(s->id, sizeof(s->id) - 1);
    condition_be(&s->condition, CONDITION_WAITING);
    s->name = must_print("recording of %s/%s", s->key->app, s->key->name);
    live_evictable_open(&s->keeper, d->sink.env->streams, s->name, &keeping);
    return s;
}

struct dvr_stream *dvr_stream_ref(struct dvr_stream *s)
{
    ref_get(&s->ref);
    return s;
}

void dvr_stream_unref(struct dvr_stream *s)
{
    if (!ref_put(&s->ref))
        return;
    live_reader_close(&s->reader);
    live_evictable_close(&s->keeper);
    mp4_frag_fini(&s->mp4);
    disk_room_close(&s->room);
    blocks_free(&s->block);
    (void)block_cache_unref(s->cache);
    wr_free(&s->header);
    (void)conf_unref(s->conf);
    sink_notifier_fini(&s->notifier);
    (void)stream_key_unref(s->key);
    free(s->name);
    free(s);
}

void dvr_stream_begin(struct dvr_stream *s, const struct session_stream *names,
                      struct live_source *src)
{
    err_t err;

    sink_notifier_set(&s->notifier, s->dvrs->sink.env, names, src);
    s->src = src;
    s->live = true;
    dvr_time_begin(s);
    live_reader_open(&s->reader, src);
    s->running = true;
    err = co_go(&s->dvrs->sink.group, "dvr", dvr_run, dvr_stream_ref(s));
    if (!err)
        return;
    s->running = false;
    dvr_stream_unref(s);
    log_end("the recording does not begin", &err);
}

bool dvr_stream_has_to_wait(const struct dvr_stream *s)
{
    const struct dvr_stream *older = s->next;

    while (older && older->src != s->src)
        older = older->next;
    return older;
}

static void leave(struct dvr_stream *s)
{
    LIST_CUT(&s->dvrs->streams, s);
    dvr_stream_unref(s);
}

void dvr_stream_end(struct dvr_stream *s)
{
    live_reader_end(&s->reader);
    if (s->running)
        return;
    dvr_drain(s, true);
    (void)dvr_stream_finish(s);
}

bool dvr_stream_finish(struct dvr_stream *s)
{
    if (!live_reader_done(&s->reader))
        return false;
    dvr_close(s);
    if (s->bad > 1)
        log_warn("%s: %u invalid frames were dropped", s->name, s->bad);
    live_reader_close(&s->reader);
    s->live = false;
    leave(s);
    return true;
}
