/* SPDX-License-Identifier: MIT */
/* dvr.c - starts and ends recordings of published streams. */
#include "sink/dvr/dvr.h"

#include "base/container_of.h"
#include "sink/dvr/stream.h"

#include <string.h>

static struct dvrs *dvrs_of(struct sink *sink)
{
    return container_of(sink, struct dvrs, sink);
}

static void init(struct sink *sink, const struct sink_setup *setup)
{
    struct dvrs *d = dvrs_of(sink);

    d->disk = setup->records;
    d->cache = block_cache_new(setup->env->streams);
}

/* Checks `dvr_apply`: all, or names like "live/livestream". */
static bool applies(const struct conf_dvr *set, const struct session_stream *stream)
{
    size_t app = strlen(stream->app);

    for (size_t i = 0; i < set->apply.n; i++) {
        const char *name = set->apply.v[i];

        if (strcmp(name, "all") == 0 ||
            (strncmp(name, stream->app, app) == 0 && name[app] == '/' &&
             strcmp(name + app + 1, stream->name) == 0))
            return true;
    }
    return false;
}

static bool differs(const struct conf_dvr *a, const struct conf_dvr *b)
{
    return a->plan != b->plan || strcmp(a->path, b->path) != 0 || a->duration != b->duration ||
           a->wait_keyframe != b->wait_keyframe || a->time_jitter != b->time_jitter;
}

static void end(struct sink *sink, struct sink_stream *stream)
{
    void **at = sink_of(sink, stream);
    struct dvr_stream *s = *at;

    if (!s)
        return;
    *at = NULL;
    dvr_stream_end(s);
}

static void begin(struct sink *sink, struct sink_stream *stream, const struct conf_vhost *vhost)
{
    struct dvrs *d = dvrs_of(sink);
    void **at = sink_of(sink, stream);
    struct dvr_stream *s = *at;
    const struct conf_dvr *set = &vhost->dvr;
    bool wanted = vhost->enabled && set->enabled && applies(set, &stream->names);

    if (s && (!wanted || differs(s->set, set)))
        end(sink, stream);
    else if (s)
        s->quota = set->quota;
    if (!wanted || *at)
        return;
    *at = s = dvr_stream_new(d, &stream->names, sink->env->conf, set);
    s->next = d->streams;
    d->streams = s;
    dvr_stream_begin(s, &stream->names, stream->src);
}

static bool is_mp4(const char *path)
{
    const char *end = strrchr(path, '.');

    return end && strcmp(end, ".mp4") == 0;
}

void dvrs_each(const struct sink *sink, void (*each)(void *arg, const struct dvr_info *one),
               void *arg)
{
    for (const struct dvr_stream *s = container_of(sink, struct dvrs, sink)->streams; s;
         s = s->next)
        each(arg, &(struct dvr_info){
            .id = s->id, .key = s->key, .mp4 = is_mp4(s->set->path),
            .file = s->file ? s->file->path : "", .file_at = s->file_at,
            .bytes = s->file ? s->bytes : 0, .root = disk_room_root(&s->room),
            .condition = &s->condition });
}

static struct dvr_stream *oldest(const struct dvrs *d)
{
    struct dvr_stream *s = d->streams;

    while (s->next)
        s = s->next;
    return s;
}

static void stop(struct sink *sink)
{
    struct dvrs *d = dvrs_of(sink);

    while (d->streams) { /* all have ended, but many packets may be left to read */
        struct dvr_stream *s = oldest(d);

        dvr_drain(s, false);
        (void)dvr_stream_finish(s);
        co_yield_if_due();
    }
}

static void free_cache(struct sink *sink)
{
    (void)block_cache_unref(dvrs_of(sink)->cache);
}

const struct sink_ops dvr_sink = {
    .name = "dvr", .size = sizeof(struct dvrs), .init = init, .begin = begin, .end = end,
    .stop = stop, .free = free_cache,
};
