/* SPDX-License-Identifier: MIT */
/* sink.h - the interface of a sink: a row of functions called when a stream is published and when
 * it ends.
 *
 * app/sinks.c has the table of rows. The list of published streams (list.h) calls them. The list
 * creates one struct sink for each row, and each stream has a slot for the sink's data about that
 * stream.
 */
#ifndef SINK_SINK_H
#define SINK_SINK_H

#include "session/env.h"

struct disk;
struct sink;
struct sink_list;

/* A published stream. */
struct sink_stream {
    struct sink_stream *next;
    struct session_stream names; /* the list owns the strings */
    struct live_source *src;     /* borrowed: valid while it is published */
    void *of[];                  /* the data of each sink: sink_of() */
};

/* Shared by all sinks; outlives them. */
struct sink_setup {
    struct session_env *env;
    struct disk *segments, *records; /* disk workers for segments and for recordings */
};

/* Functions may be NULL. Only stop() yields. */
struct sink_ops {
    const char *name;
    size_t size; /* size of its structure, which begins with a struct sink; 0: only that */
    void (*init)(struct sink *s, const struct sink_setup *setup);
    /* The server listens: starts what runs without a stream. Each worker has its own sinks; work
     * that is done once per process is done by worker 0 (env->worker). */
    void (*start)(struct sink *s);
    /* The stream is published, or the configuration of a published stream changed: starts, changes
     * or ends the work that its vhost configures. */
    void (*begin)(struct sink *s, struct sink_stream *stream, const struct conf_vhost *vhost);
    /* The stream ended, or its vhost was removed. Also called for streams that the sink ignores.
     * The remaining packets are read to the end; begin() of the next publisher does not wait for
     * it. */
    void (*end)(struct sink *s, struct sink_stream *stream);
    /* The configuration changed; a call of begin() or end() follows for each stream. */
    void (*reload)(struct sink *s);
    /* A graceful quit starts: ends what would never end on its own. */
    void (*drain)(struct sink *s);
    /* The process quits: requests all work to end without waiting. No new work starts. */
    void (*interrupt)(struct sink *s);
    /* Ends what is not a coroutine of its group; the list stops the group afterwards. Pending disk
     * writes follow. */
    void (*stop)(struct sink *s);
    void (*free)(struct sink *s); /* frees what init() created; the list owns the sink itself */
};

/* The first member of the sink's own structure (container_of). */
struct sink {
    const struct sink_ops *ops;
    struct sink_list *list; /* NULL in tests without a list */
    size_t place;           /* index of its slot in each stream */
    struct session_env *env;
    struct co_group group;  /* its coroutines */
    bool ending;            /* sink_interrupt(), sink_stop() */
};

struct sink *sink_new(const struct sink_ops *row, const struct sink_setup *setup);
void sink_interrupt(struct sink *s); /* requests its coroutines to end */
void sink_stop(struct sink *s);      /* its stop(), then its coroutines. Yields. */
void sink_free(struct sink *s);

/* The sink's data about the stream; initially NULL. */
static inline void **sink_of(const struct sink *s, struct sink_stream *stream)
{
    return &stream->of[s->place];
}

#endif
