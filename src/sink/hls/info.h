/* SPDX-License-Identifier: MIT */
/* info.h - what a stream of HLS or DASH is: its parts read it, stream.c changes it. */
#ifndef SINK_HLS_INFO_H
#define SINK_HLS_INFO_H

#include "base/ref.h"
#include "conf/conf.h"
#include "session/stream_key.h"
#include "sink/hls/clock.h"
#include "sink/hls/worker.h"

struct hls_segment;

/* Reports of the parts to the stream. */
struct hls_events {
    void (*written)(struct hls_stream *s, const struct hls_segment *seg);
    void (*list_written)(struct hls_stream *s);
    void (*failed)(struct hls_stream *s, const char *path, const char *why); /* a file */
    void (*free)(struct hls_stream *s); /* nobody has a reference any more */
};

struct hls_info {
    struct ref ref;          /* the registry's, the coroutine's, and one of each job */
    struct hls_stream *stream; /* that this is of */
    const struct hls_events *events;
    struct hls *hls;
    struct block_cache *cache;       /* of its blocks */
    char *name;              /* for the log: "HLS of live/x" */
    struct stream_key *key;  /* what it is called */
    char *m3u8_path;         /* on disk */
    struct conf *conf;       /* that is applied, with a reference */
    const struct hls_format *format;
    const struct hls_container *container;
    struct conf_hls set;     /* of any kind, in terms of HLS */
    const struct conf_dash *dash; /* what only an MPD has */
    struct hls_clock clock;
    bool live;               /* the publisher's packets are read */
    bool keep_files;         /* nothing is removed any more */
    bool disposing;          /* everything is removed */
};

static inline struct hls_info *hls_info_ref(struct hls_info *info)
{
    ref_get(&info->ref);
    return info;
}
static inline void hls_info_unref(struct hls_info *info)
{
    if (ref_put(&info->ref))
        info->events->free(info->stream);
}

/* name.c: paths and urls */
struct hls_numbers {         /* what a name may have of a segment */
    uint64_t seq;
    int64_t duration;        /* 1/90000 s */
    int64_t wall;            /* ms since 1970 */
    int64_t floor;           /* hls_ts_floor: which fragment of the wall clock */
};
err_t hls_name(const struct hls_info *info, const char *folder, const char *text,
               const struct hls_numbers *n, char path[HLS_NAME_MAX])
    __attribute__((warn_unused_result));
/* The url that the playlist has for a file, made of its path. malloc'ed. */
char *hls_uri(const struct hls_info *info, const char *path);
/* The same as others know it: with hls_entry_prefix, or "live/s-1.ts" below the root of the web
 * server. malloc'ed. */
char *hls_url(const struct hls_info *info, const char *path);
char *hls_key_uri(const struct hls_info *info, const char *path);
/* "live/s/video-" and what follows. malloc'ed. */
char *hls_track_path(const struct hls_info *info, bool video, const char *rest);
/* Of a part, which is known before it is there. malloc'ed. */
char *hls_part_path(const struct hls_info *info, uint64_t seq, size_t part);

#endif
