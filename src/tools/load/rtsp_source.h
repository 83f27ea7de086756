/* SPDX-License-Identifier: MIT */
/* rtsp_source.h - a file as all RTSP publishers share it: its frames, and the SDP of it. */
#ifndef TOOLS_LOAD_RTSP_SOURCE_H
#define TOOLS_LOAD_RTSP_SOURCE_H

#include "base/wr.h"
#include "format/frame.h"
#include "tools/load/media.h"

enum { LOAD_SOURCE_TRACKS = 2 };

/* A file, each of its messages as a packet of the log, whose time is 0. */
struct load_source {
    struct load_media media;
    struct av_packet **packets; /* beside media.messages */
    unsigned n;                 /* tracks: video first, then sound */
    struct load_source_track {
        enum av_kind kind;
        enum av_codec codec;
        uint8_t type;           /* payload type */
        const struct av_packet *config; /* or its first frame, if its codec has none */
    } tracks[LOAD_SOURCE_TRACKS];
};

/* ERR_UNSUPPORTED: RTP carries none of it. */
err_t load_source_load(struct load_source *s, const char *path)
    __attribute__((warn_unused_result));
void  load_source_free(struct load_source *s); /* what it has */
/* The configuration of a track as a frame; false: it has none. */
bool  load_source_config(const struct load_source_track *t, struct frame *out);
/* Each frame of a message, `time` ms after the begin, until take() gives an error. `number`: of the
 * next picture, which gets the clock; NULL: none does. */
err_t load_source_frames(const struct load_source *s, const struct load_message *msg, uint64_t time,
                         uint32_t *number, err_t (*take)(void *arg, const struct frame *f),
                         void *arg) __attribute__((warn_unused_result));
/* The SDP of it. */
void  load_source_describe(const struct load_source *s, struct wr *out);

#endif
