/* SPDX-License-Identifier: MIT */
/* streams.h - the streams that somebody plays, or relays to, by a protocol at a worker.
 *
 * A stream of a protocol begins with what is here, and is found by its source. One walk serves all
 * who play it, in slices, when the protocol says so. What is to be known of players now and then is
 * asked by one coroutine for all streams, once a second.
 */
#ifndef SERVE_DATAGRAM_STREAMS_H
#define SERVE_DATAGRAM_STREAMS_H

#include "live/source.h"
#include "serve/datagram/datagram.h"

enum { DATAGRAM_BUCKETS = 64 };

/* Part of whoever plays. */
struct datagram_player {
    struct datagram_player *next, **prev; /* prev NULL: it plays nothing */
};

struct datagram_stream {
    struct datagram_player *players;
    struct datagram_player *at;   /* the next of a walk; NULL: there is none under way */
    struct datagram_player *look; /* the next that is looked at */
    co_usec every;                /* of datagram_stream_begin(): between two walks */
    struct co_timer timer;        /* the next one */
    struct co_task more;          /* the rest of one */
    struct datagram_stream *next; /* in a bucket */
    struct datagram_streams *all;
    unsigned refs;
    struct live_source *src;      /* with a reference */
};

struct datagram_stream_kind {
    const char *looker;           /* a coroutine's name */
    size_t burst;                 /* bytes of memory for all streams, while there are any; or 0 */
    void (*serve)(struct datagram_stream *st, struct datagram_player *p, co_usec now);
    void (*take)(struct datagram_stream *st, co_usec now); /* what came: before a walk by time */
    void (*begin_look)(struct datagram_stream *st); /* or NULL */
    void (*look)(struct datagram_player *p, co_usec now);
    void (*free)(struct datagram_stream *st); /* nothing finds it any more; src is still there */
};

/* Of a service, with one kind. Begins zeroed. */
struct datagram_streams {
    const struct datagram_stream_kind *kind;
    struct datagram_service *service;
    struct datagram_stream *v[DATAGRAM_BUCKETS];
    unsigned n;
    void *burst;                  /* kind->burst bytes; NULL: there are no streams */
    bool looks;                   /* there is that coroutine */
};

/* That of the source, with a reference for the caller; NULL: there is none. */
struct datagram_stream *datagram_stream_get(struct datagram_streams *all,
                                            const struct live_source *src);
/* A new one, zeroed, where there was none: it has one reference, the caller's. */
void datagram_stream_enter(struct datagram_streams *all, struct datagram_service *s,
                           const struct datagram_stream_kind *kind, struct datagram_stream *st,
                           struct live_source *src);
void datagram_stream_put(struct datagram_stream *st); /* the reference back */

/* One more, who counts as a player of the source. True: it is the first. None of these yields. */
bool datagram_stream_add(struct datagram_stream *st, struct datagram_player *p);
/* True: it was the last one. Fine if it is in none. */
bool datagram_stream_remove(struct datagram_stream *st, struct datagram_player *p);
static inline bool datagram_stream_has(const struct datagram_player *p)
{
    return p->prev != NULL;
}
/* All players in turn from st->at on, by kind->serve(), at which st->at is the one behind it.
 * False: the time of a slice is over, and the walk is not. */
bool datagram_stream_walk(struct datagram_stream *st, co_usec now);
/* Such a walk each st->every, and less often while nobody publishes; no more of them, also of one
 * that has not begun. */
void datagram_stream_begin(struct datagram_stream *st, co_usec now);
void datagram_stream_end(struct datagram_stream *st);

#endif
