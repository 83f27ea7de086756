/* SPDX-License-Identifier: MIT */
/* streams.h - the streams that somebody plays, or relays to, by a protocol at a worker.
 *
 * A stream of a protocol begins with what is here, and is found by its source. Who plays it is the
 * protocol's: one walk serves them all. What is to be known of players now and then is asked by
 * one coroutine for all streams, once a second.
 */
#ifndef SERVE_DATAGRAM_STREAMS_H
#define SERVE_DATAGRAM_STREAMS_H

#include "live/source.h"
#include "serve/datagram/datagram.h"

enum { DATAGRAM_BUCKETS = 64 };

struct datagram_stream {
    struct datagram_stream *next; /* in a bucket */
    struct datagram_streams *all;
    unsigned refs;
    struct live_source *src;      /* with a reference */
};

struct datagram_stream_kind {
    const char *looker;           /* a coroutine's name */
    /* All players of a stream; may yield, the stream stays. */
    void (*look)(struct datagram_stream *st);
    void (*free)(struct datagram_stream *st); /* nothing finds it any more; src is still there */
};

/* Of a service, with one kind. Begins zeroed. */
struct datagram_streams {
    const struct datagram_stream_kind *kind;
    struct datagram_service *service;
    struct datagram_stream *v[DATAGRAM_BUCKETS];
    unsigned n;
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

#endif
