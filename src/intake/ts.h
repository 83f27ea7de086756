/* SPDX-License-Identifier: MIT */
/* ts.h - received MPEG-TS as the publisher of a live stream.
 *
 *     t = ts_intake_new(&opts);
 *     ts_intake_begin(t, src);                the caller has become its publisher
 *     ts_intake_put(t, data, size); ...       bytes in pieces of any size
 *     ts_intake_hole(t);                      where data were lost
 *     ts_intake_end(t);
 *     ts_intake_free(t);
 *
 * One video and one audio stream become packets of the source, with metadata for RTMP and FLV
 * players. Logs the streams that it uses and those that it leaves out. Nothing here yields.
 */
#ifndef INTAKE_TS_H
#define INTAKE_TS_H

#include "format/ts/demux.h"
#include "live/source.h"

struct ts_intake; /* owned by the caller of ts_intake_new() */

struct ts_intake_opts {
    bool sei_filter;       /* see ts_demux_opts */
    const char *signature; /* our name in the metadata, borrowed; NULL: none */
};

struct ts_intake *ts_intake_new(const struct ts_intake_opts *opts);
/* NULL is fine; loses the last frames without ts_intake_end() */
void ts_intake_free(struct ts_intake *t);

/* Sends frames to that stream from now on, and takes a reference to it; call it once. Before that,
 * and with NULL, frames are only parsed for the functions below. */
void ts_intake_begin(struct ts_intake *t, struct live_source *src);
void ts_intake_put(struct ts_intake *t, const uint8_t *data, size_t size);
void ts_intake_hole(struct ts_intake *t);
/* Ends the publisher: pushes the last frames and releases the stream. */
void ts_intake_end(struct ts_intake *t);

/* Returns true if the input has TS packets. */
bool ts_intake_is_ts(const struct ts_intake *t);

/* For a relay of the bytes. Sets *at to the number of bytes put before the TS packet that begins
 * the newest key frame, or without video the newest audio frame. Returns false if there was none
 * yet. */
bool ts_intake_key(const struct ts_intake *t, uint64_t *at);
/* Writes the tables for its front: PAT and PMT. Returns their size; 0: not received yet. */
size_t ts_intake_tables(const struct ts_intake *t, uint8_t out[TS_TABLES_MAX]);

struct ts_intake_stat {
    struct ts_demux_stat ts;
    uint64_t video_frames, audio_frames, keys; /* frames pushed, or parsed without a stream */
    uint64_t no_memory;                        /* frames dropped because memory was short */
    enum av_codec video, audio;                /* AV_CODEC_NONE: none yet */
};
void ts_intake_stat(const struct ts_intake *t, struct ts_intake_stat *out);

#endif
