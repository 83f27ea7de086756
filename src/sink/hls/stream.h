/* SPDX-License-Identifier: MIT */
/* stream.h - the HLS or DASH of one stream, from its first publisher until it is removed. */
#ifndef SINK_HLS_STREAM_H
#define SINK_HLS_STREAM_H

#include "live/evictable.h"
#include "live/reader.h"
#include "sink/hls/segment/muxer.h"
#include "sink/notify.h"

/* A publisher whose packets will be read after those of the previous one. */
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
    /* held while its playlist may continue, so that publishers come to this worker; NULL with one
     * worker */
    struct stream_owner *owner;
    struct sink_notifier notifier; /* sends callbacks for the publisher */
    struct live_source *src; /* while it is published */
    struct live_reader reader;
    struct hls_publication *next_publication;
    bool running;            /* its coroutine exists */
    bool ready;              /* the journal of an earlier process was read */
    struct frame_tracks tracks;
    bool given_up;           /* hls_on_error ignore: ignores the rest of this publisher */
    bool left;               /* removed from the registry: players stop waiting */
    co_usec ended_at;        /* when its publisher ended */
    struct co_timer dispose;
    struct co_timer again;   /* after the end: retries what could not be written */
    uint64_t dropped;        /* the reader's drop counter when last checked */
};

/* stream.c */
struct hls_stream *hls_stream_find(struct hls *h, const struct session_stream *names,
                                   const struct hls_format *format);
/* With several workers it holds the stream's ownership, so that a returning publisher comes here.
 * */
struct hls_stream *hls_stream_new(struct hls *h, const struct session_stream *names,
                                  struct conf *conf, const struct conf_vhost *vhost,
                                  const struct hls_format *format, uint64_t next_seq);
/* Applies the settings of a new configuration. */
void hls_stream_apply(struct hls_stream *s, struct conf *conf, const struct conf_vhost *vhost);
/* Returns true if these settings change the paths or contents of the files. */
bool hls_stream_differs(const struct hls_stream *s, const struct conf_hls *set);
/* A publisher begins and ends. Its packets are read to the end before those of the next one. */
void hls_stream_begin(struct hls_stream *s, const struct session_stream *names,
                      struct live_source *src);
void hls_stream_end(struct hls_stream *s);
/* If all packets of the publisher were read, ends its last segment and starts with the next one.
 * Returns false if packets are left. */
bool hls_stream_finish(struct hls_stream *s);
/* Does the same for all ended publishers at once. */
void hls_stream_finish_all(struct hls_stream *s);
/* Removes the stream; with `remove` also its files. */
void hls_stream_dispose(struct hls_stream *s, bool remove);

/* run.c: reading packets */
err_t hls_run(void *stream);          /* co_fn; releases its reference */
/* Reads all packets (`all`), or as many as fit in the coroutine's time slice. Does not yield. */
void hls_drain(struct hls_stream *s, bool all);

/* recover.c: continues with the files on disk. Yields. */
void hls_recover(struct hls_stream *s);
/* Only reads the playlist. Returns false if the stream has no journal that is at least `silence`
 * old. Yields. */
bool hls_recover_list(struct hls_stream *s, co_usec silence);

/* ended.c: streams without a publisher that are only on disk */
struct hls_ended_list *hls_ended_new(void);
void hls_ended_free(struct hls_ended_list *all);
/* co_fn; finds the streams that an earlier process left. */
err_t hls_ended_search(void *hls);
/* Returns true if everything needed to continue or remove the stream is on disk. */
bool hls_is_on_disk(const struct hls_stream *s);
/* Frees the memory of such a stream; its files are removed after hls_dispose. */
void hls_ended_add(struct hls_stream *s);
/* A publisher has returned. */
void hls_ended_forget(struct hls *h, const struct stream_key *key, const struct hls_format *format);

#endif
