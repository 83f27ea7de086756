/* SPDX-License-Identifier: MIT */
/* frag.h - writer of fragmented MP4: frames in, boxes out. No I/O.
 *
 * [ISO-FF] ISO/IEC 14496-12 8.8; [CMAF] ISO/IEC 23000-19.
 *
 * The writer collects the samples of one video and one audio track. A cut makes a fragment (moof
 * and mdat) of them. The duration of a video frame is known only when the next one arrives, so the
 * caller cuts before it adds the first frame of the next fragment.
 */
#ifndef FORMAT_MP4_FRAG_H
#define FORMAT_MP4_FRAG_H

#include "base/blocks.h"
#include "format/audio_clock.h"
#include "format/mp4/track.h"

struct mp4_sample {
    uint32_t size, duration;
    int32_t cts;
    bool key;
};

struct mp4_part { /* samples of one track in the next fragment */
    struct mp4_track track;
    struct mp4_sample *v;
    size_t n, cap;
    struct blocks data;
    int64_t begin;      /* start of the first sample, in ticks */
    int64_t last;       /* start of the newest sample, in ticks */
    uint32_t lasts;     /* its duration, 0: until the next sample */
    uint32_t usual;     /* duration of the previous sample */
};

struct mp4_frag {
    struct mp4_part video, audio;
    struct audio_clock clock;
    uint32_t sequence;  /* number of the next fragment */
    int64_t origin;     /* dts that is time 0 of the file, 1/90000 s */
};

/* max_bytes: limit for the media of one fragment, in blocks of `pool`, which may be NULL. */
void mp4_frag_init(struct mp4_frag *f, size_t max_bytes, struct block_pool *pool);
void mp4_frag_fini(struct mp4_frag *f);

/* Adds a frame or a configuration. *changed: players need a new init segment; the caller must cut
 * the collected samples first (see mp4_frag_changes). ERR_UNSUPPORTED, ERR_CODEC, ERR_TOO_LARGE:
 * the frame was dropped. */
err_t mp4_frag_add(struct mp4_frag *f, const struct frame *fr, bool *changed)
    __attribute__((warn_unused_result));
/* Returns whether this frame needs a new init segment. */
bool mp4_frag_changes(const struct mp4_frag *f, const struct frame *fr);

/* Starts a new time line: the next frames do not continue the previous ones. */
void mp4_frag_jump(struct mp4_frag *f);

/* Writes the init segment (ftyp and moov) for all tracks, or for a single track. */
void mp4_frag_header(const struct mp4_frag *f, struct wr *out);
void mp4_frag_header_one(const struct mp4_frag *f, enum av_kind kind, struct wr *out);

/* Appends a fragment with all collected samples, or nothing if there are none. The last video frame
 * ends at `dts`. `styp`: the fragment begins a segment. `out` uses the same block pool. */
void mp4_frag_cut(struct mp4_frag *f, int64_t dts, bool styp, struct blocks *out);
/* Appends a fragment of a single track that begins a segment. Returns its begin and duration, in
 * ticks. */
struct mp4_extent {
    int64_t begin;
    uint64_t duration;
};
struct mp4_extent mp4_frag_cut_one(struct mp4_frag *f, enum av_kind kind, int64_t dts,
                                   struct blocks *out);
/* Discards the collected samples as if they had been cut. */
void mp4_frag_drop(struct mp4_frag *f);

size_t mp4_frag_bytes(const struct mp4_frag *f); /* collected so far */
bool mp4_frag_is_empty(const struct mp4_frag *f);

#endif
