/* SPDX-License-Identifier: MIT */
/* container.h - the containers of segments, a row for each. */
#ifndef SINK_HLS_SEGMENT_CONTAINER_H
#define SINK_HLS_SEGMENT_CONTAINER_H

#include "conf/conf.h"
#include "format/mp4/frag.h"
#include "sink/hls/segment/segmenter.h"

struct hls_muxer;
struct hls_segment;

/* A container: turns frames into the file of a segment. All functions except takes() and
 * configure() are called while the segment `now` of the muxer is open. */
struct hls_container {
    const char *name;            /* for the log */
    const char *type;            /* content type of a segment */
    int version;                 /* lowest protocol version of its playlists */
    enum segmenter_parts parts;  /* kind of parts without low latency */
    bool inits;                  /* segments need an init segment */
    const char *(*file)(const struct conf_hls *set); /* name pattern of segments */
    bool (*takes)(enum av_codec codec);
    /* Returns true if frames were muxed with the current codec configuration of this track. */
    bool (*is_begun)(const struct hls_muxer *m, const struct mp4_part *track);
    err_t (*configure)(struct hls_muxer *m, const struct frame *f); /* NULL: the tracks know it */
    void (*open)(struct hls_muxer *m); /* NULL: nothing to do */
    err_t (*add)(struct hls_muxer *m, const struct frame *f);
    /* Ends a part; NULL: it has no parts. */
    void (*part)(struct hls_muxer *m, int64_t end);
    /* Completes the file of the segment, and possibly a second one that belongs to it. Returns
     * false if the segment is empty or unusable. */
    bool (*close)(struct hls_muxer *m, int64_t end, struct hls_segment **second);
};
extern const struct hls_container hls_container_ts, hls_container_mp4, hls_container_tracks;

#endif
