/* SPDX-License-Identifier: MIT */
/* kind.h - what HLS and DASH, and the files that their segments are in, differ in: rows. */
#ifndef SINK_HLS_KIND_H
#define SINK_HLS_KIND_H

#include "session/sampled.h"
#include "base/wr.h"
#include "conf/conf.h"
#include "format/mp4/frag.h"
#include "sink/hls/segmenter.h"

struct hls_muxer;
struct hls_list;
struct hls_segment;

/* How frames become the files of a segment. All of it is called with a muxer whose segment `now`
 * is open, but for takes() and configure(). */
struct hls_container {
    const char *name;            /* for the log */
    const char *type;            /* the content type of a segment */
    int version;                 /* of playlists of such segments, at least */
    enum segmenter_parts parts;  /* without low latency */
    bool inits;                  /* segments need an initialization */
    const char *(*file)(const struct conf_hls *met); /* what segments are called */
    bool (*takes)(enum av_codec codec);
    /* Was anything made with the decoder configuration that this track has? */
    bool (*is_begun)(const struct hls_muxer *m, const struct mp4_part *track);
    err_t (*configure)(struct hls_muxer *m, const struct frame *f);
    void (*open)(struct hls_muxer *m);
    err_t (*add)(struct hls_muxer *m, const struct frame *f);
    /* What came so far is a part; NULL: it has none. */
    void (*part)(struct hls_muxer *m, int64_t end);
    /* Make the file of the segment, and maybe of a second one that belongs to it. False: it is
     * nothing, or cannot be used. */
    bool (*close)(struct hls_muxer *m, int64_t end, struct hls_segment **second);
};
extern const struct hls_container hls_container_ts, hls_container_mp4, hls_container_tracks;

struct hls_kind {
    const char *name;            /* for the log */
    enum sampled_kind sampled;
    bool is_dash;                /* for the conversation with players */
    bool notifies;               /* a backend is notified of its segments */
    bool periods;                /* times in files are those of the wall clock */
    /* What the vhost says of it, in terms of HLS; strings are borrowed. */
    void (*settings)(const struct conf_vhost *v, struct conf_hls *out);
    const struct hls_container *(*container)(const struct conf_hls *set);
    /* The list: its content type, how much time it has (1/90000 s), its text; for the disk of what
     * is on it. */
    const char *type;
    int64_t (*window)(const struct hls_list *l);
    void (*list)(struct hls_list *l, struct wr *w, bool disk);
};
enum { HLS_KIND_HLS, HLS_KIND_DASH, HLS_KINDS };
extern const struct hls_kind hls_kinds[HLS_KINDS];

#endif
