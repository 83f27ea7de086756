/* SPDX-License-Identifier: MIT */
/* hls.c - the sink of HLS and DASH: starts and ends them for published streams. */
#include "sink/hls/hls.h"

#include "base/container_of.h"
#include "base/log.h"
#include "sink/hls/stream.h"

static void init(struct sink *sink, const struct sink_setup *setup)
{
    struct hls *h = hls_of(sink);

    h->env = setup->env;
    h->env->hls = h;
    h->disk = setup->segments;
    h->names = hls_names_new();
    h->ended = hls_ended_new();
    h->cache = block_cache_new(h->env->streams);
}

static struct hls_stream *add(struct hls *h, const struct session_stream *names,
                              const struct conf_vhost *vhost, const struct hls_format *format,
                              uint64_t next_seq)
{
    struct hls_stream *s = hls_stream_new(h, names, h->env->conf, vhost, format, next_seq);

    if (s) {
        hls_ended_forget(h, s->info.key, format);
        s->next = h->streams;
        h->streams = s;
    }
    return s;
}

static void begin(struct hls *h, const struct conf_vhost *vhost,
                  const struct session_stream *stream, struct live_source *src,
                  const struct hls_format *format)
{
    struct hls_stream *s = hls_stream_find(h, stream, format);
    struct conf_hls set;
    uint64_t next_seq = 0;
    bool wanted;

    format->settings(vhost, &set);
    wanted = vhost->enabled && set.enabled;
    if (s && (!wanted || hls_stream_differs(s, &set))) {
        if (s->src)
            hls_stream_end(s);
        if (!wanted)
            return;
        hls_stream_finish_all(s);
        next_seq = s->mux.next_seq;
        hls_stream_dispose(s, !set.recover);
        s = NULL;
    }
    if (!wanted)
        return;
    if (!s)
        s = add(h, stream, vhost, format, next_seq);
    else
        hls_stream_apply(s, h->env->conf, vhost);
    if (s && !s->src)
        hls_stream_begin(s, stream, src);
}

/* ---- the row of the sinks */

struct hls *hls_of(struct sink *sink)
{
    return container_of(sink, struct hls, sink);
}

static void begin_both(struct sink *sink, struct sink_stream *stream,
                       const struct conf_vhost *vhost)
{
    for (int i = 0; i < HLS_FORMATS; i++)
        begin(hls_of(sink), vhost, &stream->names, stream->src, &hls_formats[i]);
}

static void end(struct sink *sink, struct sink_stream *stream)
{
    for (struct hls_stream *s = hls_of(sink)->streams; s; s = s->next) {
        if (s->src == stream->src)
            hls_stream_end(s);
    }
}

static void start(struct sink *sink)
{
    struct hls *h = hls_of(sink);
    err_t err = NULL;

    if (h->env->worker == 0)
        err = co_go(&h->sink.group, "hls search", hls_ended_search, h);
    if (err)
        log_end("HLS: files of before", &err);
}

static struct hls_stream *first_live(const struct hls *h)
{
    struct hls_stream *s = h->streams;

    while (s && !s->info.live)
        s = s->next;
    return s;
}

static void stop(struct sink *sink)
{
    struct hls *h = hls_of(sink);
    struct hls_stream *s;

    while ((s = first_live(h))) { /* all have ended, but many packets may be left to read */
        hls_drain(s, false);
        s->given_up |= !s->ready;
        (void)hls_stream_finish(s);
        co_yield_if_due();
    }
    h->stopping = true;
}

static void free_all(struct sink *sink)
{
    struct hls *h = hls_of(sink);

    h->stopping = true;
    while (h->streams)
        hls_stream_dispose(h->streams, false);
    hls_names_free(h->names);
    hls_ended_free(h->ended);
    (void)block_cache_unref(h->cache);
    h->env->hls = NULL;
}

const struct sink_ops hls_sink = {
    .name = "hls", .size = sizeof(struct hls), .init = init, .start = start, .begin = begin_both,
    .end = end, .stop = stop, .free = free_all,
};
