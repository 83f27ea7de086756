/* SPDX-License-Identifier: MIT */
/* sink.h - a sink is a row: what it does when a stream is published, and when it is no longer.
 *
 * The program has a table of rows (app/sinks.c) and one list of published streams (list.h), which
 * calls them. The list makes one struct sink of each row, and each stream of the list has a slot
 * for the sink's own data about that stream.
 */
#ifndef SINK_SINK_H
#define SINK_SINK_H

#include "session/env.h"

struct disk;
struct sink;
struct sink_list;

/* A stream that is published now. */
struct sink_stream {
    struct sink_stream *next;
    struct session_stream names; /* its strings are the list's */
    struct live_source *src;     /* borrowed: it lives while it is published */
    void *of[];                  /* what each sink makes of it: sink_of() */
};

/* What the server gives to all of them; it outlives them. */
struct sink_setup {
    struct session_env *env;
    struct disk *segments, *records; /* helper threads that write files, for two kinds of disks */
};

/* NULL: nothing to do. Only stop() yields. */
struct sink_ops {
    const char *name;
    size_t size; /* of its own structure, which begins with a struct sink; 0: it has none */
    void (*init)(struct sink *s, const struct sink_setup *setup);
    /* The server listens: begin what runs without a stream. With several workers each has sinks of
     * its own; what is to be done once is done by the first one, env->worker 0. */
    void (*start)(struct sink *s);
    /* The stream is published, or goes on after the configuration changed: begin, change or end
     * what its vhost wants now. */
    void (*begin)(struct sink *s, struct sink_stream *stream, const struct conf_vhost *vhost);
    /* It is published no longer, or its vhost went. Also for one that this sink made nothing of.
     * What came is read to its end, which begin() of the next publisher does not wait for. */
    void (*end)(struct sink *s, struct sink_stream *stream);
    /* The configuration changed; begin() or end() for each stream comes after it. */
    void (*reload)(struct sink *s);
    /* Nobody new is served from now on: end what would never end by itself. */
    void (*drain)(struct sink *s);
    /* The program ends: ask all to, wait for nothing. No more is begun. */
    void (*interrupt)(struct sink *s);
    /* The end of what is not a coroutine of its group; the list stops the group behind it. What
     * waits for a disk is written after it. */
    void (*stop)(struct sink *s);
    void (*free)(struct sink *s); /* what init() made; the sink itself is the list's */
};

/* The beginning of the sink's own structure (container_of). */
struct sink {
    const struct sink_ops *ops;
    struct sink_list *list; /* NULL: it is alone, in a test */
    size_t place;           /* in each stream */
    struct session_env *env;
    struct co_group group;  /* its coroutines */
    bool ending;            /* sink_interrupt(), sink_stop() */
};

struct sink *sink_new(const struct sink_ops *row, const struct sink_setup *setup);
void sink_interrupt(struct sink *s); /* for rows: ask its coroutines to end */
void sink_stop(struct sink *s);      /* its stop(), then its coroutines. Yields. */
void sink_free(struct sink *s);

/* What this sink makes of the stream; NULL to begin with. */
static inline void **sink_of(const struct sink *s, struct sink_stream *stream)
{
    return &stream->of[s->place];
}

#endif
