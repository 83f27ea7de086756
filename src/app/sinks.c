/* SPDX-License-Identifier: MIT */
/* sinks.c - what begins and ends with every published stream. */
#include "app/sinks.h"

#include "base/must.h"
#include "serve/hls/http.h"
#include "serve/hls/session.h"
#include "sink/dvr/dvr.h"
#include "sink/forward/forward.h"
#include "sink/hls/hls.h"
#include "sink/program/children.h"
#include "sink/store/disk.h"

#include <stdlib.h>

/* How long files may take that are not written when the program ends: with what callbacks get then,
 * less than it takes until an end that takes too long is cut off. */
#define PATIENCE CO_SECONDS(6)

/* As long as who comes after a publisher waits for it, should the stream go on to grow. */
#define CATCH_UP CO_SECONDS(2)

/* What waits to be written at most: of one stream, and of all. Recordings are often on a disk of
 * their own, over a network: when it hangs, threads are left for the others, and the reverse. */
static const char *const segment_ends[] = { ".ts", ".m4s", ".m3u8", ".mpd", ".key", NULL };
static const char *const record_ends[] = { ".flv", ".mp4", ".tmp", NULL };
enum { LANE = 96 << 20, ALL = 1 << 30 };

/* A stream that is published now. */
struct published {
    struct published *next;
    struct session_stream names; /* its strings are ours */
    struct live_source *src;   /* borrowed: it lives while it is published */
};

struct sinks {
    struct session_env *env;
    struct published *streams;
    struct disk *disk, *records;
    struct forwards *forwards;
    struct hls *hls;
    struct dvrs *dvrs;
    struct children *children;
};

struct sinks *sinks_new(struct session_env *env)
{
    struct sinks *s = must(calloc(1, sizeof(*s)));

    s->env = env;
    s->disk = disk_new(&(struct disk_limits){
        .lane_bytes = LANE, .all_bytes = ALL, .threads = 3, .what = "HLS", .ends = segment_ends,
        .memory = live_registry_memory(env->streams) });
    s->records = disk_new(&(struct disk_limits){
        .lane_bytes = LANE, .all_bytes = ALL, .threads = 2, .what = "recordings",
        .ends = record_ends, .memory = live_registry_memory(env->streams) });
    s->forwards = forwards_new(env);
    s->hls = hls_new(env, s->disk);
    hls_sessions_begin(s->hls);
    s->dvrs = dvrs_new(env, s->records);
    s->children = children_new(env, s->disk);
    return s;
}

void sinks_start(struct sinks *s)
{
    hls_start(s->hls);
    children_start(s->children);
}

void sinks_stop_ingest(struct sinks *s)
{
    children_stop_ingest(s->children);
}

void sinks_interrupt(struct sinks *s)
{
    children_interrupt(s->children);
}

void sinks_mount(struct sinks *s, struct http_mux *mux)
{
    hls_http_mount(s->hls, mux);
}

static void remember(struct sinks *s, const struct session_stream *names, struct live_source *src)
{
    struct published *p = must(calloc(1, sizeof(*p)));

    p->names = session_stream_copy(names);
    p->src = src;
    p->next = s->streams;
    s->streams = p;
}

static void forget(struct sinks *s, const struct live_source *src)
{
    struct published **at = &s->streams, *p;

    while (*at && (*at)->src != src)
        at = &(*at)->next;
    p = *at;
    if (!p)
        return;
    *at = p->next;
    session_stream_free(&p->names);
    free(p);
}

void sinks_begin(struct sinks *s, const struct conf_vhost *vhost,
                 const struct session_stream *stream, struct live_source *src)
{
    remember(s, stream, src);
    forwards_begin(s->forwards, vhost, stream, src);
    hls_begin(s->hls, vhost, stream, src);
    dvrs_begin(s->dvrs, vhost, stream, src);
    children_begin(s->children, vhost, stream, src);
}

void sinks_catch_up(struct sinks *s, struct live_source *src)
{
    co_usec until = co_now() + CATCH_UP;

    while (co_now() < until && (hls_catch_up(s->hls, src) || dvrs_catch_up(s->dvrs, src)))
        co_yield_if_due();
}

void sinks_end(struct sinks *s, struct live_source *src)
{
    forget(s, src);
    forwards_end(s->forwards, src);
    hls_end(s->hls, src);
    dvrs_end(s->dvrs, src);
    children_end(s->children, src);
}

void sinks_reload(struct sinks *s)
{
    forwards_reload(s->forwards);
    children_reload(s->children);
    for (struct published *p = s->streams; p; p = p->next) {
        const struct conf_vhost *v = conf_vhost_find(s->env->conf, p->names.vhost);

        if (v) {
            hls_begin(s->hls, v, &p->names, p->src);
            dvrs_begin(s->dvrs, v, &p->names, p->src);
        } else {
            hls_end(s->hls, p->src);
            dvrs_end(s->dvrs, p->src);
        }
    }
}

struct forwards *sinks_forwards(const struct sinks *s)
{
    return s->forwards;
}

struct children *sinks_children(const struct sinks *s)
{
    return s->children;
}

void sinks_stat(const struct sinks *s, struct sinks_stat *out)
{
    *out = (struct sinks_stat){ .forwards = forwards_count(s->forwards),
                                .hls = hls_count(s->hls) };
}

void sinks_free(struct sinks *s)
{
    co_usec until = co_clock() + PATIENCE;

    forwards_free(s->forwards);
    children_free(s->children);
    hls_stop(s->hls);
    dvrs_stop(s->dvrs);
    disk_free(s->disk, until - co_clock());
    disk_free(s->records, until - co_clock());
    hls_sessions_free(s->hls);
    hls_free(s->hls);
    dvrs_free(s->dvrs);
    while (s->streams)
        forget(s, s->streams->src);
    free(s);
}
