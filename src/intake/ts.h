/* SPDX-License-Identifier: MIT */
/* ts.h - MPEG-TS that comes in, as a publisher of a live stream.
 *
 *     t = ts_intake_new(&opts);
 *     ts_intake_begin(t, src);                the caller has become its publisher
 *     ts_intake_put(t, data, size); ...       whatever came, cut anywhere
 *     ts_intake_hole(t);                      where something is missing
 *     ts_intake_end(t);
 *     ts_intake_free(t);
 *
 * One video and one audio stream become packets of the source, with metadata for who plays by RTMP
 * or FLV. What is found, and what is left out, is told in lines of the log. Nothing here yields.
 */
#ifndef INTAKE_TS_H
#define INTAKE_TS_H

#include "format/ts/demux.h"
#include "live/source.h"

struct ts_intake; /* owned by who made it */

struct ts_intake_opts {
    bool sei_filter;       /* as of ts_demux_opts */
    const char *signature; /* who we are, for who plays; borrowed; NULL: not said */
};

struct ts_intake *ts_intake_new(const struct ts_intake_opts *opts);
void ts_intake_free(struct ts_intake *t); /* NULL is fine; without an end, what is open is lost */

/* Once: from now on frames go to that stream, of which it takes a reference. Before, and with NULL,
 * they are read and go nowhere, so that what is said below is known. */
void ts_intake_begin(struct ts_intake *t, struct live_source *src);
void ts_intake_put(struct ts_intake *t, const uint8_t *data, size_t size);
void ts_intake_hole(struct ts_intake *t);
/* The publisher goes: the last frames are pushed, and the reference is given back. */
void ts_intake_end(struct ts_intake *t);

/* Were packets of a transport stream found in what came? */
bool ts_intake_speaks(const struct ts_intake *t);

/* For who passes the bytes on as they came. The newest key frame, or where there is no video, the
 * newest frame of sound: so many bytes had been put, from the first on, in front of the TS
 * packet with which it begins. False: none came yet. */
bool ts_intake_key(const struct ts_intake *t, uint64_t *at);
/* What goes in front of it: PAT and PMT; how many bytes, 0: they have not come. */
size_t ts_intake_tables(const struct ts_intake *t, uint8_t out[TS_TABLES_MAX]);

struct ts_intake_stat {
    struct ts_demux_stat ts;
    uint64_t video_frames, audio_frames, keys; /* pushed, or read where there is no stream */
    uint64_t no_memory;                        /* frames left out for want of it */
    enum av_codec video, audio;                /* AV_CODEC_NONE: not seen */
};
void ts_intake_stat(const struct ts_intake *t, struct ts_intake_stat *out);

#endif
