/* SPDX-License-Identifier: MIT */
/* frag.h - frames to fragmented MP4: no I/O.
 *
 * [ISO-FF] ISO/IEC 14496-12 8.8; [CMAF] ISO/IEC 23000-19.
 *
 * The writer collects the samples of one video and one audio track and makes a fragment (moof and
 * mdat) of them whenever it is asked to cut. How long a video frame lasts is known when the next
 * one comes, so the caller cuts before it adds the frame that begins the next fragment.
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

struct mp4_part { /* the samples of one track in the fragment to come */
    struct mp4_track track;
    struct mp4_sample *v;
    size_t n, cap;
    struct blocks data;
    int64_t begin;      /* of the first sample, in ticks */
    int64_t last;       /* of the newest sample, in ticks */
    uint32_t lasts;     /* how long that is, 0: until the next comes */
    uint32_t usual;     /* how long the one before it was */
};

struct mp4_frag {
    struct mp4_part video, audio;
    struct audio_clock clock;
    uint32_t sequence;  /* of the next fragment */
    int64_t origin;     /* dts that is time 0 of the file, 1/90000 s */
};

/* max_bytes: of one fragment's media, in blocks of that shop, or of none. */
void mp4_frag_init(struct mp4_frag *f, size_t max_bytes, struct block_pool *shop);
void mp4_frag_fini(struct mp4_frag *f);

/* Take a frame or a configuration. *changed: another initialization is needed, for which what was
 * collected must be cut before (ask mp4_frag_changes). ERR_UNSUPPORTED, ERR_CODEC, ERR_TOO_LARGE:
 * the frame was left out. */
err_t mp4_frag_add(struct mp4_frag *f, const struct frame *fr, bool *changed)
    __attribute__((warn_unused_result));
/* Would this frame need another initialization? */
bool mp4_frag_changes(const struct mp4_frag *f, const struct frame *fr);

/* Time goes on elsewhere: forget how the frames before lead to those that come. */
void mp4_frag_jump(struct mp4_frag *f);

/* ftyp and moov for the tracks there are; or for one of them alone. */
void mp4_frag_header(const struct mp4_frag *f, struct wr *out);
void mp4_frag_header_one(const struct mp4_frag *f, enum av_kind kind, struct wr *out);

/* Append a fragment of all that was collected, nothing if that is nothing. Video lasts until
 * `dts`. With `styp` as the first of a segment. `out` is of the same shop. */
void mp4_frag_cut(struct mp4_frag *f, int64_t dts, bool styp, struct blocks *out);
/* The same of one track alone, as the first of a segment. Gives its time, in ticks: where the
 * fragment begins, and how long it lasts. */
struct mp4_extent {
    int64_t begin;
    uint64_t duration;
};
struct mp4_extent mp4_frag_cut_one(struct mp4_frag *f, enum av_kind kind, int64_t dts,
                                   struct blocks *out);
/* Forget what was collected, as if it had been cut. */
void mp4_frag_drop(struct mp4_frag *f);

size_t mp4_frag_bytes(const struct mp4_frag *f); /* collected so far */
bool mp4_frag_is_empty(const struct mp4_frag *f);

#endif
