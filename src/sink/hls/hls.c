/* SPDX-License-Identifier: MIT */
/* hls.c - which streams of the server have HLS and DASH. */
#include "sink/hls/hls.h"

#include "base/log.h"
#include "base/must.h"
#include "sink/hls/folder.h"
#include "sink/hls/stream.h"

#include <stdlib.h>
#include <string.h>

struct hls *hls_new(struct session_env *env, struct disk *disk)
{
    struct hls *h = must(calloc(1, sizeof(*h)));

    h->env = env;
    h->disk = disk;
    h->names = hls_names_new();
    h->shop = shop_new(env->streams);
    co_group_init(&h->group);
    return h;
}

struct hls_stream *hls_stream_find(struct hls *h, const struct session_stream *names, bool dash)
{
    struct hls_stream *s = h->streams;

    while (s && ((s->dash != NULL) != dash ||
                 strcmp(s->stream, names->name) != 0 || strcmp(s->app, names->app) != 0 ||
                 strcmp(s->vhost, names->vhost) != 0))
        s = s->next;
    return s;
}

static struct hls_stream *add(struct hls *h, const struct session_stream *names,
                              const struct conf_vhost *vhost, bool dash, uint64_t next_seq)
{
    struct hls_stream *s = hls_stream_new(h, names, h->env->conf, vhost, dash, next_seq);

    if (s) {
        s->next = h->streams;
        h->streams = s;
    }
    return s;
}

static void begin(struct hls *h, const struct conf_vhost *vhost,
                  const struct session_stream *stream, struct live_source *src, bool dash)
{
    struct hls_stream *s = hls_stream_find(h, stream, dash);
    const struct conf_hls *set = &vhost->hls;
    struct conf_hls of_dash;
    uint64_t next_seq = 0;
    bool wanted;

    if (dash) {
        dash_settings(&vhost->dash, &of_dash);
        set = &of_dash;
    }
    wanted = vhost->enabled && set->enabled;
    if (s && (!wanted || hls_stream_differs(s, set))) {
        if (s->live)
            hls_stream_end(s);
        if (!wanted)
            return;
        next_seq = s->next_seq;
        hls_stream_dispose(s, !set->recover);
        s = NULL;
    }
    if (!wanted)
        return;
    if (!s)
        s = add(h, stream, vhost, dash, next_seq);
    else
        hls_stream_apply(s, h->env->conf, vhost);
    if (s && !s->live)
        hls_stream_begin(s, stream, src);
}

void hls_begin(struct hls *h, const struct conf_vhost *vhost, const struct session_stream *stream,
               struct live_source *src)
{
    begin(h, vhost, stream, src, false);
    begin(h, vhost, stream, src, true);
}

bool hls_catch_up(struct hls *h, const struct live_source *src)
{
    for (struct hls_stream *s = h->streams; s; s = s->next) {
        uint64_t at = s->reader.seq;

        if (!s->live || s->src != src)
            continue;
        hls_drain(s, false);
        if (s->reader.seq != at)
            return true;
    }
    return false;
}

void hls_end(struct hls *h, const struct live_source *src)
{
    for (struct hls_stream *s = h->streams; s; s = s->next) {
        if (s->live && s->src == src)
            hls_stream_end(s);
    }
}

unsigned hls_count(const struct hls *h)
{
    return h->live;
}

void hls_start(struct hls *h)
{
    err_t err = co_go(&h->group, "hls orphans", hls_remove_orphans, h);

    if (err)
        log_end("HLS: files of before", &err);
}

void hls_stop(struct hls *h)
{
    err_t err;

    for (struct hls_stream *s = h->streams; s; s = s->next) {
        if (s->live)
            hls_stream_end(s);
    }
    h->stopping = true;
    err = co_group_stop(&h->group);
    err_free(&err);
}

void hls_free(struct hls *h)
{
    h->stopping = true;
    while (h->streams)
        hls_stream_dispose(h->streams, false);
    (void)hls_folders_unref(h->folders);
    hls_names_free(h->names);
    (void)shop_unref(h->shop);
    free(h);
}
