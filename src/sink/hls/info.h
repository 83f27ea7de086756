/* SPDX-License-Identifier: MIT */
/* info.h - facts about a stream of HLS or DASH. stream.c changes them, its parts read them. */
#ifndef SINK_HLS_INFO_H
#define SINK_HLS_INFO_H

#include "base/ref.h"
#include "conf/conf.h"
#include "session/stream_key.h"
#include "sink/hls/clock.h"
#include "sink/hls/worker.h"

struct hls_segment;

/* Events that the parts report to the stream. */
struct hls_events {
    void (*written)(struct hls_stream *s, const struct hls_segment *seg);
    void (*list_written)(struct hls_stream *s);
    void (*failed)(struct hls_stream *s, const char *path, const char *why); /* writing a file */
    void (*free)(struct hls_stream *s); /* the last reference was released */
};

struct hls_info {
    struct ref ref;          /* held by the registry, the coroutine and each job */
    struct hls_stream *stream; /* the stream described */
    const struct hls_events *events;
    struct hls *hls;
    struct block_cache *cache; /* source of its blocks */
    char *name;              /* for the log: "HLS of live/x" */
    struct stream_key *key;  /* name of the stream */
    char *m3u8_path;         /* on disk */
    struct conf *conf;       /* the applied configuration, with a reference */
    const struct hls_format *format;
    const struct hls_container *container;
    struct conf_hls set;     /* settings of HLS or DASH, in terms of HLS */
    const struct conf_dash *dash; /* settings that only DASH has */
    struct hls_clock clock;
    bool live;               /* the publisher's packets are being read */
    bool keep_files;         /* no file is removed any more */
    bool disposing;          /* all files are removed */
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
struct hls_numbers {         /* values for the variables in the name of a segment */
    uint64_t seq;
    int64_t duration;        /* 1/90000 s */
    int64_t wall;            /* ms since 1970 */
    int64_t floor;           /* hls_ts_floor: number of the wall clock's fragment */
};
err_t hls_name(const struct hls_info *info, const char *folder, const char *text,
               const struct hls_numbers *n, char path[HLS_NAME_MAX])
    __attribute__((warn_unused_result));
/* Returns the URL of a file in the playlist, malloc'ed. */
char *hls_uri(const struct hls_info *info, const char *path);
/* Returns the public URL of a file, malloc'ed: with hls_entry_prefix, or relative to the root of
 * the web server such as "live/s-1.ts". */
char *hls_url(const struct hls_info *info, const char *path);
char *hls_key_uri(const struct hls_info *info, const char *path);
/* Returns "live/s/video-" with `rest` appended, malloc'ed. */
char *hls_track_path(const struct hls_info *info, bool video, const char *rest);
/* Returns the path of a part, which is known before the part exists; malloc'ed. */
char *hls_part_path(const struct hls_info *info, uint64_t seq, size_t part);

#endif
