/* SPDX-License-Identifier: MIT */
/* container.h - how frames become the file of a segment: a row for each container. */
#ifndef SINK_HLS_SEGMENT_CONTAINER_H
#define SINK_HLS_SEGMENT_CONTAINER_H

#include "conf/conf.h"
#include "format/mp4/frag.h"
#include "sink/hls/segment/segmenter.h"

struct hls_muxer;
struct hls_segment;

/* How frames become the files of a segment. All of it is called with a muxer whose segment `now`
 * is open, but for takes() and configure(). */
struct hls_container {
    const char *name;            /* for the log */
    const char *type;            /* the content type of a segment */
    int version;                 /* of playlists of such segments, at least */
    enum segmenter_parts parts;  /* without low latency */
    bool inits;                  /* segments need an initialization */
    const char *(*file)(const struct conf_hls *set); /* what segments are called */
    bool (*takes)(enum av_codec codec);
    /* Was anything made with the decoder configuration that this track has? */
    bool (*is_begun)(const struct hls_muxer *m, const struct mp4_part *track);
    err_t (*configure)(struct hls_muxer *m, const struct frame *f); /* NULL: the tracks know it */
    void (*open)(struct hls_muxer *m); /* NULL: nothing to do */
    err_t (*add)(struct hls_muxer *m, const struct frame *f);
    /* The frames so far are a part; NULL: it has none. */
    void (*part)(struct hls_muxer *m, int64_t end);
    /* Make the file of the segment, and maybe of a second one that belongs to it. False: it is
     * nothing, or cannot be used. */
    bool (*close)(struct hls_muxer *m, int64_t end, struct hls_segment **second);
};
extern const struct hls_container hls_container_ts, hls_container_mp4, hls_container_tracks;

#endif
