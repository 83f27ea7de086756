/* SPDX-License-Identifier: MIT */
/* stream.h - the HLS or DASH of one stream, from its first publisher until it is forgotten. */
#ifndef SINK_HLS_STREAM_H
#define SINK_HLS_STREAM_H

#include "live/evictable.h"
#include "live/reader.h"
#include "sink/hls/segment/muxer.h"
#include "sink/notify.h"

/* A publisher whose packets are to be read, once those of the one before are. */
struct hls_publication {
    struct hls_publication *next;
    struct sink_notifier notifier;
    struct live_reader reader;
};

struct hls_stream {
    struct hls_info info;
    struct hls_store store;
    struct hls_list list;
    struct hls_muxer mux;
    struct hls_stream *next; /* in the registry */
    struct live_evictable keeper;
    /* of the stream: here, while its list may go on; NULL: one worker */
    struct stream_owner *owner;
    struct sink_notifier notifier; /* whose segments these are */
    struct live_source *src; /* while it is published */
    struct live_reader reader;
    struct hls_publication *next_publication;
    bool running;            /* its coroutine is there */
    bool ready;              /* the list of before was read */
    struct frame_tracks tracks;
    bool given_up;           /* hls_on_error ignore: nothing more of this publisher */
    bool left;               /* it left the registry: nobody waits for it any more */
    co_usec ended_at;        /* its publisher */
    struct co_timer dispose;
    struct co_timer again;   /* after the end: writes what could not be written */
    uint64_t dropped;        /* of the reader, that we know of */
};

/* stream.c */
struct hls_stream *hls_stream_find(struct hls *h, const struct session_stream *names,
                                   const struct hls_format *format);
/* With several workers it holds the stream's home: a publisher that comes back comes here. */
struct hls_stream *hls_stream_new(struct hls *h, const struct session_stream *names,
                                  struct conf *conf, const struct conf_vhost *vhost,
                                  const struct hls_format *format, uint64_t next_seq);
/* Read the settings of this snapshot from now on. */
void hls_stream_apply(struct hls_stream *s, struct conf *conf, const struct conf_vhost *vhost);
/* Do these settings put the files elsewhere, or make others of them? */
bool hls_stream_differs(const struct hls_stream *s, const struct conf_hls *set);
/* A publisher begins, and ends: what it sent is read to its end, and then that of the next one. */
void hls_stream_begin(struct hls_stream *s, const struct session_stream *names,
                      struct live_source *src);
void hls_stream_end(struct hls_stream *s);
/* If all that the publisher sent is read, its last segment ends, and the next one's turn begins.
 * False: some is left. */
bool hls_stream_finish(struct hls_stream *s);
/* The same of all publishers that ended, at once. */
void hls_stream_finish_all(struct hls_stream *s);
/* It is forgotten; with `remove` its files go, too. */
void hls_stream_dispose(struct hls_stream *s, bool remove);

/* run.c: read packets */
err_t hls_run(void *stream);          /* co_fn; gives its reference back */
/* All that is there now, or as much as the coroutine's slice of time is for. Does not yield. */
void hls_drain(struct hls_stream *s, bool all);

/* recover.c: go on with what is on disk. Yields. */
void hls_recover(struct hls_stream *s);
/* Only take it. False: no journal of this stream is there that is as old as `silence`. Yields. */
bool hls_recover_list(struct hls_stream *s, co_usec silence);

/* ended.c: streams that have no publisher and are on disk alone */
struct hls_ended_list *hls_ended_new(void);
void hls_ended_free(struct hls_ended_list *all);
/* Those that an earlier process left. co_fn */
err_t hls_ended_search(void *hls);
/* All that is needed to continue the list, or to remove it, is on disk. */
bool hls_is_on_disk(const struct hls_stream *s);
/* It is, and leaves memory; its files are removed after hls_dispose. */
void hls_ended_add(struct hls_stream *s);
/* A publisher came back. */
void hls_ended_forget(struct hls *h, const struct stream_key *key, const struct hls_format *format);

#endif
