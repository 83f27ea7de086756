/* SPDX-License-Identifier: MIT */
/* final.h - converts a fragmented MP4 file to a seekable one with tables at its start. No I/O.
 *
 * A recording is written as fragments, so that a crash loses only the last one. When it is
 * complete, the tables are built from the fragments and written in front of the media:
 *
 *     mp4_final_head(f, moov...)             of the fragmented file
 *     mp4_final_fragment(f, moof..., mdat)   for each, in order
 *     mp4_final_build(f, out)                all that comes before the media
 *     ...then the payload of every mdat, in order (f->spans)
 *
 * Runs on helper threads, which cannot use err_t: functions return false on failure.
 */
#ifndef FORMAT_MP4_FINAL_H
#define FORMAT_MP4_FINAL_H

#include "base/wr.h"
#include "format/demux/mp4.h"

struct mp4_run { /* `count` consecutive samples with the same value */
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
    uint64_t end;           /* end of the last sample in the media */
    int64_t begin, next;    /* time of the first sample, and of the one to come, in ticks */
    int32_t first_offset;   /* the first sample's */
    bool has_offsets;
};

struct mp4_span { /* a range of the fragmented file: media to copy */
    uint64_t from, size;
};

struct mp4_final {
    struct mp4_index source; /* tracks from the moov of the fragmented file */
    struct mp4_moof moof;    /* the last fragment added */
    struct mp4_final_track tracks[DEMUX_TRACKS];
    struct mp4_span *spans;
    size_t n_spans, spans_cap;
    uint64_t media;         /* bytes of all spans */
};

void mp4_final_init(struct mp4_final *f);
void mp4_final_fini(struct mp4_final *f);

/* Reads the body of `moov`; call once. False: incomplete, or several tracks of one kind. */
bool mp4_final_head(struct mp4_final *f, const uint8_t *moov, size_t size);
/* Adds a fragment: a complete moof box and the file range of its mdat's payload. Returns false if
 * it is damaged: then nothing was added, and the recording must end before it. */
bool mp4_final_fragment(struct mp4_final *f, const uint8_t *moof, size_t size, uint64_t from,
                        uint64_t payload);
/* Writes ftyp, moov and the header of mdat. False: exceeds the limit of `out`. */
bool mp4_final_build(const struct mp4_final *f, struct wr *out);

#endif
