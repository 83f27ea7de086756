/* SPDX-License-Identifier: MIT */
/* streams.h - the streams that clients of a protocol play or relay to, on one worker.
 *
 * A protocol's stream struct begins with the struct here and is found by its source. One walk
 * serves all its players, in time slices: every st->every, less often while there is no publisher,
 * or when the protocol starts one. One coroutine for all streams checks their players once a
 * second.
 */
#ifndef SERVE_DATAGRAM_STREAMS_H
#define SERVE_DATAGRAM_STREAMS_H

#include "base/table.h"
#include "live/source.h"
#include "serve/datagram/datagram.h"

/* A member of struct datagram_client for players. */
struct datagram_player {
    struct datagram_player *next, **prev; /* prev NULL: it does not play */
};

struct datagram_stream {
    struct datagram_player *players;
    struct datagram_player *at;   /* next player of the running walk; NULL: none is running */
    struct datagram_player *check; /* next player to check */
    co_usec every;                /* interval of periodic walks */
    struct co_timer timer;        /* starts the next walk */
    struct co_task more;          /* continues a walk */
    struct table_link link;       /* in the table of streams, by source */
    struct datagram_streams *all;
    unsigned refs;
    struct live_source *src;      /* owns a reference */
};

struct datagram_stream_kind {
    const char *checker;          /* name of the checking coroutine */
    size_t size;                  /* size of the protocol's stream struct */
    size_t burst;                 /* size of a buffer shared by all streams; or 0 */
    void (*begin)(struct datagram_stream *st, struct datagram_service *s); /* initializes one */
    void (*free)(struct datagram_stream *st); /* frees what begin() created; src is still valid */
    /* The first player comes (on), or the last one has left. */
    void (*wanted)(struct datagram_stream *st, bool on);
    void (*serve)(struct datagram_stream *st, struct datagram_player *p, co_usec now);
    /* Reads the source before a periodic walk. NULL: there are no periodic walks. */
    void (*take)(struct datagram_stream *st, co_usec now);
    void (*begin_check)(struct datagram_stream *st); /* called once a second; or NULL */
};

/* All streams of a service, of one kind. Initially zero. */
struct datagram_streams {
    const struct datagram_stream_kind *kind;
    struct datagram_service *service;
    struct table all;
    void *burst;                  /* kind->burst bytes; NULL: there are no streams */
    bool checks;                  /* the checking coroutine runs */
};

/* Returns the stream of a source, with a reference for the caller; creates it if needed. */
struct datagram_stream *datagram_stream_get(struct datagram_streams *all,
                                            struct datagram_service *s,
                                            const struct datagram_stream_kind *kind,
                                            struct live_source *src);
void datagram_stream_put(struct datagram_stream *st); /* releases a reference; NULL is fine */

/* Adds a player, which counts as a player of the source. None of these yields. */
void datagram_stream_add(struct datagram_stream *st, struct datagram_player *p);
void datagram_stream_remove(struct datagram_stream *st, struct datagram_player *p); /* fine if it
                                                                                     * is in none */
static inline bool datagram_stream_has(const struct datagram_player *p)
{
    return p->prev != NULL;
}
/* Serves all players from st->at on with kind->serve(); st->at is the next one during the call.
 * Returns false if the time slice ended before the walk. */
bool datagram_stream_walk(struct datagram_stream *st, co_usec now);

#endif
