/* SPDX-License-Identifier: MIT */
/* dvr.c - which streams are recorded. */
#include "sink/dvr/dvr.h"

#include "base/must.h"
#include "sink/dvr/stream.h"

#include <stdlib.h>
#include <string.h>

struct dvrs *dvrs_new(struct session_env *env, struct disk *disk)
{
    struct dvrs *d = must(calloc(1, sizeof(*d)));

    d->env = env;
    d->disk = disk;
    d->shop = shop_new(env->streams);
    co_group_init(&d->group);
    return d;
}

/* `dvr_apply`: all, or names like "live/livestream". */
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

static struct dvr_stream **find(struct dvrs *d, const struct live_source *src)
{
    struct dvr_stream **at = &d->streams;

    while (*at && (*at)->src != src)
        at = &(*at)->next;
    return at;
}

bool dvrs_catch_up(struct dvrs *d, const struct live_source *src)
{
    struct dvr_stream *s = *find(d, src);
    uint64_t at;

    if (!s)
        return false;
    at = s->reader.seq;
    dvr_drain(s, false);
    return s->reader.seq != at;
}

void dvrs_end(struct dvrs *d, const struct live_source *src)
{
    struct dvr_stream **at = find(d, src), *s = *at;

    if (!s)
        return;
    *at = s->next;
    dvr_stream_end(s);
    dvr_stream_unref(s);
}

void dvrs_begin(struct dvrs *d, const struct conf_vhost *vhost, const struct session_stream *stream,
                struct live_source *src)
{
    const struct conf_dvr *set = &vhost->dvr;
    bool wanted = vhost->enabled && set->enabled && applies(set, stream);
    struct dvr_stream *s = *find(d, src);

    if (s && (!wanted || differs(s->set, set))) {
        dvrs_end(d, src);
        s = NULL;
    }
    if (s)
        s->quota = set->quota;
    if (!wanted || s)
        return;
    s = dvr_stream_new(d, stream, d->env->conf, set);
    s->next = d->streams;
    d->streams = s;
    dvr_stream_begin(s, stream, src);
}

unsigned dvrs_count(const struct dvrs *d)
{
    return d->live;
}

void dvrs_stop(struct dvrs *d)
{
    err_t err;

    while (d->streams)
        dvrs_end(d, d->streams->src);
    err = co_group_stop(&d->group);
    err_free(&err);
}

void dvrs_free(struct dvrs *d)
{
    (void)shop_unref(d->shop);
    free(d);
}
