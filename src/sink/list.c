/* SPDX-License-Identifier: MIT */
/* list.c - the published streams of a worker, and its sinks. */
#include "sink/list.h"

#include "base/must.h"

#include <stdlib.h>

struct sink_list {
    struct session_env *env;
    struct sink_stream *streams;
    size_t n;
    struct sink *sinks[];
};

struct sink *sink_new(const struct sink_ops *row, const struct sink_setup *setup)
{
    struct sink *s = must(calloc(1, row->size ? row->size : sizeof(*s)));

    s->ops = row;
    s->env = setup->env;
    co_group_init(&s->group);
    if (row->init)
        row->init(s, setup);
    return s;
}

void sink_interrupt(struct sink *s)
{
    s->ending = true;
    co_group_interrupt(&s->group);
}

void sink_stop(struct sink *s)
{
    err_t err;

    s->ending = true;
    if (s->ops->stop)
        s->ops->stop(s);
    err = co_group_stop(&s->group);
    err_free(&err); /* already logged where it ended */
}

void sink_free(struct sink *s)
{
    if (s->ops->free)
        s->ops->free(s);
    free(s);
}

struct sink_list *sink_list_new(const struct sink_ops *const *rows, size_t n,
                                const struct sink_setup *setup)
{
    struct sink_list *l = must(calloc(1, sizeof(*l) + n * sizeof(l->sinks[0])));

    l->env = setup->env;
    for (size_t i = 0; i < n; i++) {
        l->sinks[i] = sink_new(rows[i], setup);
        l->sinks[i]->list = l;
        l->sinks[i]->place = i;
    }
    l->n = n;
    return l;
}

struct sink *sink_list_find(const struct sink_list *l, const struct sink_ops *row)
{
    size_t i = 0;

    while (i < l->n && l->sinks[i]->ops != row)
        i++;
    return i < l->n ? l->sinks[i] : NULL;
}

struct sink_stream *sink_list_next(const struct sink_list *l, const struct sink_stream *stream)
{
    return stream ? stream->next : l->streams;
}

static struct sink_stream **find(struct sink_list *l, const struct live_source *src)
{
    struct sink_stream **at = &l->streams;

    while (*at && (*at)->src != src)
        at = &(*at)->next;
    return at;
}

static struct sink_stream *add(struct sink_list *l, const struct session_stream *names,
                               struct live_source *src)
{
    struct sink_stream *s = must(calloc(1, sizeof(*s) + l->n * sizeof(s->of[0])));

    s->names = session_stream_copy(names);
    s->src = src;
    s->next = l->streams;
    l->streams = s;
    return s;
}

static void begin_one(struct sink *sink, struct sink_stream *s, const struct conf_vhost *vhost)
{
    if (sink->ops->begin)
        sink->ops->begin(sink, s, vhost);
}

static void end_one(struct sink *sink, struct sink_stream *s)
{
    if (sink->ops->end)
        sink->ops->end(sink, s);
}

void sink_list_begin(struct sink_list *l, const struct conf_vhost *vhost,
                     const struct session_stream *names, struct live_source *src)
{
    struct sink_stream *s;

    sink_list_end(l, src);
    s = add(l, names, src);
    for (size_t i = 0; i < l->n; i++)
        begin_one(l->sinks[i], s, vhost);
}

void sink_list_end(struct sink_list *l, const struct live_source *src)
{
    struct sink_stream **at = find(l, src), *s = *at;

    if (!s)
        return;
    *at = s->next;
    for (size_t i = 0; i < l->n; i++)
        end_one(l->sinks[i], s);
    session_stream_free(&s->names);
    free(s);
}

static void reload_one(struct sink_list *l, struct sink *sink)
{
    if (sink->ops->reload)
        sink->ops->reload(sink);
    for (struct sink_stream *s = l->streams; s; s = s->next) {
        const struct conf_vhost *vhost = conf_vhost_find(l->env->conf, s->names.vhost);

        if (vhost)
            begin_one(sink, s, vhost);
        else
            end_one(sink, s);
    }
}

void sink_list_reload(struct sink_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        reload_one(l, l->sinks[i]);
}

/* Calls a function of each row that has it. */
#define CALL_EACH(l, function)                                      \
    do {                                                            \
        for (size_t i_ = 0; i_ < (l)->n; i_++) {                    \
            if ((l)->sinks[i_]->ops->function)                      \
                (l)->sinks[i_]->ops->function((l)->sinks[i_]);      \
        }                                                           \
    } while (0)

void sink_list_start(struct sink_list *l)
{
    CALL_EACH(l, start);
}

void sink_list_drain(struct sink_list *l)
{
    CALL_EACH(l, drain);
}

void sink_list_interrupt(struct sink_list *l)
{
    CALL_EACH(l, interrupt);
}

void sink_list_stop(struct sink_list *l)
{
    while (l->streams)
        sink_list_end(l, l->streams->src);
    for (size_t i = 0; i < l->n; i++)
        sink_stop(l->sinks[i]);
}

void sink_list_free(struct sink_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        sink_free(l->sinks[i]);
    free(l);
}
