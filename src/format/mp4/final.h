/* SPDX-License-Identifier: MIT */
/* final.h - from a fragmented MP4 file to one that players can seek in from its begin: no I/O.
 *
 * A recording is written as fragments, so that a crash costs the last of them only. When it is
 * complete, its tables are collected from the fragments and put in front of the media:
 *
 *     mp4_final_head(f, moov...)             of the fragmented file
 *     mp4_final_fragment(f, moof..., mdat)   for each, in order
 *     mp4_final_build(f, out)                all that comes before the media
 *     ...then the payload of every mdat, in order (f->spans)
 *
 * It runs on helper threads, where there is no err_t: what fails is false.
 */
#ifndef FORMAT_MP4_FINAL_H
#define FORMAT_MP4_FINAL_H

#include "base/wr.h"
#include "format/demux/mp4.h"

struct mp4_run { /* so many samples after one another with this value */
    uint32_t n, value;
};

struct mp4_runs {
    struct mp4_run *v;
    size_t n, cap;
};

struct mp4_chunk {
    uint64_t at; /* in the media */
    uint32_t samples;
};

struct mp4_final_track {
    uint32_t id, timescale;
    bool video;
    uint32_t width, height; /* pixels */
    struct wr stsd;         /* the whole box */
    struct mp4_runs durations, offsets; /* stts, ctts */
    uint32_t *sizes, *keys; /* stsz, stss */
    size_t n, sizes_cap, n_keys, keys_cap;
    struct mp4_chunk *chunks;
    size_t n_chunks, chunks_cap;
    uint64_t end;           /* of the last sample, in the media */
    int64_t begin, next;    /* time of the first sample, and of the one to come, in ticks */
    int32_t first_offset;   /* of the first sample */
    bool has_offsets;
};

struct mp4_span { /* of the fragmented file: media to copy */
    uint64_t from, size;
};

struct mp4_final {
    struct mp4_index source; /* what the moov of the fragmented file says of its tracks */
    struct mp4_moof moof;    /* the last one that was taken */
    struct mp4_final_track tracks[DEMUX_TRACKS];
    struct mp4_span *spans;
    size_t n_spans, spans_cap;
    uint64_t media;         /* bytes of all spans */
};

void mp4_final_init(struct mp4_final *f);
void mp4_final_fini(struct mp4_final *f);

/* What is inside of `moov`, once. False: it lacks something, or has more than a track of each. */
bool mp4_final_head(struct mp4_final *f, const uint8_t *moov, size_t size);
/* A whole moof box, and where in the file the payload of its mdat is. False: it is damaged,
 * nothing of it was taken, and the file ends before it. */
bool mp4_final_fragment(struct mp4_final *f, const uint8_t *moof, size_t size, uint64_t from,
                        uint64_t payload);
/* ftyp, moov and the head of mdat. False: over the limit of `out`. */
bool mp4_final_build(const struct mp4_final *f, struct wr *out);

#endif
