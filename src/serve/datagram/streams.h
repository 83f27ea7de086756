/* SPDX-License-Identifier: MIT */
/* streams.h - the streams that clients of a protocol play, or relay to, at a worker.
 *
 * A stream of a protocol begins with the struct here, and is found by its source. One walk serves
 * all its players, in slices: each st->every, less often while nothing is published, or when the
 * protocol starts one. One coroutine for all streams checks their players once a second.
 */
#ifndef SERVE_DATAGRAM_STREAMS_H
#define SERVE_DATAGRAM_STREAMS_H

#include "base/table.h"
#include "live/source.h"
#include "serve/datagram/datagram.h"

/* Part of each player: of its struct datagram_client. */
struct datagram_player {
    struct datagram_player *next, **prev; /* prev NULL: it plays nothing */
};

struct datagram_stream {
    struct datagram_player *players;
    struct datagram_player *at;   /* the next of a walk; NULL: there is none under way */
    struct datagram_player *check; /* the next to be checked */
    co_usec every;                /* between two walks by time */
    struct co_timer timer;        /* the next one */
    struct co_task more;          /* the rest of one */
    struct table_link link;       /* in all, by its source */
    struct datagram_streams *all;
    unsigned refs;
    struct live_source *src;      /* with a reference */
};

struct datagram_stream_kind {
    const char *checker;          /* a coroutine's name */
    size_t size;                  /* bytes of a stream of the protocol */
    size_t burst;                 /* bytes of memory for all streams, while there are any; or 0 */
    void (*begin)(struct datagram_stream *st, struct datagram_service *s); /* a new one */
    void (*free)(struct datagram_stream *st); /* what begin() made; src is still there */
    /* Its first player comes; its last one has left. */
    void (*wanted)(struct datagram_stream *st, bool on);
    void (*serve)(struct datagram_stream *st, struct datagram_player *p, co_usec now);
    /* What the source has: before a walk by time. NULL: there are none. */
    void (*take)(struct datagram_stream *st, co_usec now);
    void (*begin_check)(struct datagram_stream *st); /* once a second; or NULL */
};

/* Of a service, with one kind. Begins zeroed. */
struct datagram_streams {
    const struct datagram_stream_kind *kind;
    struct datagram_service *service;
    struct table all;
    void *burst;                  /* kind->burst bytes; NULL: there are no streams */
    bool checks;                  /* there is that coroutine */
};

/* That of the source, made if there is none; with a reference for the caller. */
struct datagram_stream *datagram_stream_get(struct datagram_streams *all,
                                            struct datagram_service *s,
                                            const struct datagram_stream_kind *kind,
                                            struct live_source *src);
void datagram_stream_put(struct datagram_stream *st); /* the reference back; NULL is fine */

/* One more, which counts as a player of the source. None of these yields. */
void datagram_stream_add(struct datagram_stream *st, struct datagram_player *p);
void datagram_stream_remove(struct datagram_stream *st, struct datagram_player *p); /* fine if it
                                                                                     * is in none */
static inline bool datagram_stream_has(const struct datagram_player *p)
{
    return p->prev != NULL;
}
/* All players in turn from st->at on, by kind->serve(), at which st->at is the one behind it.
 * False: the time of a slice is over, and the walk is not. */
bool datagram_stream_walk(struct datagram_stream *st, co_usec now);

#endif
