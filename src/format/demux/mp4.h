/* SPDX-License-Identifier: MIT */
/* mp4.h - internal declarations of the MP4 reader, for format/demux/mp4_*.c and for mp4/final.c,
 * which reads the fragments of recordings.
 *
 * [ISO-FF] ISO/IEC 14496-12. Boxes are parsed in place: the index keeps the bytes of the file's
 * moov, and the offsets of its fragments.
 */
#ifndef FORMAT_DEMUX_MP4_H
#define FORMAT_DEMUX_MP4_H

#include "base/rd.h"
#include "format/demux/impl.h"

/* ---- boxes in memory (mp4_window.c) */

#define MP4_TYPE(a, b, c, d)                                                                 \
    ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

struct mp4_node {
    uint32_t type;
    struct rd body;
};

/* Gives the next box inside a box; false: no more, or the rest is not a box. */
bool mp4_tree_next(struct rd *in, struct mp4_node *b);
/* Returns the body of the first box of that type, or an empty reader with `bad` set. */
struct rd mp4_tree_find(struct rd in, uint32_t type);

static inline uint32_t mp4_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* ---- boxes of the file itself (mp4_window.c) */

struct mp4_window {
    const struct demux_input *in;
    uint8_t *buf;
    int64_t at;        /* file offset of buf */
    size_t have, cap;
    size_t usual;      /* bytes to read if the size is unknown */
};

struct mp4_top {
    uint32_t type;
    int64_t at, size;  /* the whole box; within the file */
    unsigned head;     /* bytes before its body */
    bool cut;          /* the file ends in it */
};

bool mp4_window_init(struct mp4_window *w, const struct demux_input *in); /* false: no memory */
void mp4_window_fini(struct mp4_window *w);
/* Returns `size` bytes of the file, valid until the next call. NULL: *st is the reason. */
const uint8_t *mp4_window_get(struct mp4_window *w, int64_t at, size_t size,
                              enum demux_status *st);
/* Gives the box at that offset. DEMUX_END: the file ends there; DEMUX_BROKEN: it is not a box. */
enum demux_status mp4_window_box(struct mp4_window *w, int64_t at, struct mp4_top *b);

/* ---- sample descriptions (mp4_codec.c) */

struct mp4_codec {
    enum av_codec codec; /* AV_CODEC_NONE: it cannot be played */
    uint8_t *config;     /* malloc'ed; NULL: none */
    size_t size;
};

/* Reads the first entry of an stsd. False: out of memory. */
bool mp4_codec_read(struct mp4_codec *c, bool video, struct rd stsd);

/* ---- sample tables (mp4_table.c) */

struct mp4_rows { /* rows of a table, as in the file */
    const uint8_t *v;
    uint32_t n;
};

/* The position of a sample in all tables. */
struct mp4_cursor {
    uint32_t n;            /* number of the sample, from 0 */
    uint32_t time_row, time_left;     /* stts; remaining samples of that row */
    uint32_t offset_row, offset_left; /* ctts */
    uint32_t chunk, chunk_row, chunk_left; /* stco, stsc */
    int64_t dts;           /* ticks */
    uint64_t at;           /* offset in the file */
};

enum { MP4_TABLES = 6 };

struct mp4_table {
    union {
        struct { /* stts ctts stsc stss stco stsz */
            struct mp4_rows times, offsets, runs, keys, chunks, sizes;
        };
        struct mp4_rows rows[MP4_TABLES]; /* the same */
    };
    bool wide;             /* chunk offsets come from a co64 */
    bool has_keys;         /* false: all samples are key frames */
    uint8_t size_bits;     /* 4, 8, 16, 32; 0: all are `size` */
    uint32_t size;
    uint32_t entries;      /* number of stsd entries */
    uint32_t first, n;     /* samples to play: first, and end */
    int64_t end;           /* ticks: end of the last sample */
    int32_t least;         /* smallest composition offset; at most 0 */
    struct mp4_cursor *marks; /* one per MP4_MARK samples */
    uint32_t n_marks;
};

enum { MP4_MARK = 64 }; /* at most a byte of memory per sample */

struct mp4_trak;

/* Finds the tables of an stbl; pointers are into it. */
void mp4_table_take(struct mp4_table *t, struct rd stbl);
/* Counts the samples that are within the file and creates the marks. */
enum demux_status mp4_table_build(struct mp4_table *t, int64_t file_size, uint32_t scale,
                                  const char **why);
struct mp4_cursor mp4_table_at(const struct mp4_table *t, uint32_t n);
/* false: at the last sample */
bool mp4_table_next(const struct mp4_table *t, struct mp4_cursor *c);
uint32_t mp4_table_size(const struct mp4_table *t, const struct mp4_cursor *c);
int32_t mp4_table_offset(const struct mp4_table *t, const struct mp4_cursor *c);
/* True if the first entry of stsd describes the sample. */
bool mp4_table_described(const struct mp4_table *t, const struct mp4_cursor *c);
/* Returns the first sample whose decoding time is at least `ticks`. */
uint32_t mp4_table_find(const struct mp4_table *t, int64_t ticks);
/* mp4_table_key() returns the last key frame at or before n, or the first sample.
 * mp4_table_next_key() returns the first key frame after n, or t->n. */
uint32_t mp4_table_key(const struct mp4_table *t, uint32_t n);
uint32_t mp4_table_next_key(const struct mp4_table *t, uint32_t n);

/* ---- tracks (mp4_moov.c) */

struct mp4_trak {
    uint32_t id, scale;
    uint32_t width, height; /* pixels */
    bool video, enabled;
    struct rd stsd;        /* as in the moov */
    struct mp4_codec codec;
    struct mp4_table table;
    int64_t from, to;      /* ticks: presented part of the media; to: INT64_MAX: all */
    int64_t wait;          /* 1/90000 s: delay of its presentation */
    int64_t early;         /* ticks subtracted from decoding times, so that no frame is presented
                            * before it is decoded */
    uint32_t duration, size, flags; /* defaults of trex */
    uint32_t per_second;   /* samples per second, about */
};

struct mp4_index;

/* Reads a moov: finds the tracks to play and counts the others. Tables are used in place. */
enum demux_status mp4_moov_read(struct mp4_index *x, struct rd moov, int64_t file_size,
                                const char **why);
void mp4_moov_drop(struct mp4_trak *t);
/* Keeps only the needed parts of the moov, if they are much smaller. */
void mp4_moov_shrink(struct mp4_index *x);

/* Convert the track's ticks to 1/90000 s of the presentation, before the index's shift, for
 * presentation and decoding times; the last one gives the first tick not before a time. */
int64_t mp4_moov_time(const struct mp4_trak *t, int64_t ticks);
int64_t mp4_moov_dts(const struct mp4_trak *t, int64_t ticks);
int64_t mp4_moov_ticks(const struct mp4_trak *t, int64_t dts);
int32_t mp4_moov_cts(const struct mp4_trak *t, int64_t ticks, int32_t offset);
/* Records a negative composition offset. */
void mp4_moov_early(struct mp4_trak *t, int32_t offset);

/* ---- fragments (mp4_moof.c, mp4_scan.c, mp4_known.c) */

struct mp4_entry { /* the start of a group */
    int64_t at;            /* offset of the moof */
    int64_t dts;           /* the group's first sample's, ticks of the main track */
    int64_t last[DEMUX_TRACKS];   /* ticks: last decoding times before this moof */
    uint32_t lasts[DEMUX_TRACKS]; /* durations of those samples */
    uint32_t number;       /* index of the first sample in its moof, main track */
    int32_t late;          /* ticks from its decoding to its presentation */
    bool starts;
};

struct mp4_frags {
    struct mp4_entry *v;
    uint32_t n;
    size_t cap;
    int64_t end;           /* end of the last fragment in the file */
    bool keyless;          /* no sample is marked as a key frame */
};

enum { MP4_MOOF_MAX = 8 * 1024 * 1024, MP4_MOOF_SAMPLES = 1 << 19 };

struct mp4_moof_sample {
    int64_t at;
    uint32_t size, number; /* number: in its track, of this moof */
    int64_t dts;           /* ticks */
    int32_t offset;        /* ticks */
    uint32_t duration;
    uint8_t track;
    bool key;
};

/* An iterator over the samples of a moof. */
struct mp4_moof {
    const struct mp4_index *x;
    int64_t at, file_size;
    struct rd trafs, truns, rows;
    uint32_t left, flags, row;      /* state of the trun; row: bytes per row */
    uint32_t samples;               /* read so far */
    uint32_t duration, size, sample_flags, first_flags;
    bool first;                     /* the next sample is the first of its trun */
    int64_t base, data;             /* base offset of the traf; offset of the next sample */
    uint8_t track;
    uint32_t number[DEMUX_TRACKS];
    int64_t time[DEMUX_TRACKS];     /* decoding time of the next sample */
    int64_t last[DEMUX_TRACKS];
    uint32_t lasts[DEMUX_TRACKS];
};

void mp4_moof_begin(struct mp4_moof *m, const struct mp4_index *x, struct rd body, int64_t at,
                    int64_t file_size);
/* Starts an iteration over the samples of the box at b->at, from mp4_window_box(); without samples
 * if it is not a moof. DEMUX_END: the moof is incomplete. */
enum demux_status mp4_moof_open(struct mp4_moof *m, const struct mp4_index *x,
                                struct mp4_window *w, struct mp4_top *b);
bool mp4_moof_next(struct mp4_moof *m, struct mp4_moof_sample *s);

/* Finds the fragments after the moov; `memory` limits the entries, in bytes. */
enum demux_status mp4_scan(struct mp4_index *x, struct mp4_window *w, int64_t from,
                           size_t memory, const char **why);

/* Appends an entry; false: out of memory. */
bool mp4_scan_add(struct mp4_frags *f, const struct mp4_entry *e);
/* Updates start and end of the sample's track. */
void mp4_scan_note(struct mp4_index *x, const struct mp4_moof_sample *m);

/* Like mp4_scan(), but uses the file's own list of fragments if that is plausible (mp4_known.c). */
bool mp4_known(struct mp4_index *x, struct mp4_window *w, int64_t from, size_t memory);

/* ---- the index (mp4_open.c) */

struct mp4_index {
    struct demux_index head;
    struct mp4_trak tracks[DEMUX_TRACKS];
    uint8_t main;          /* DEMUX_VIDEO, or DEMUX_AUDIO without video */
    uint32_t movie_scale;
    bool fragmented;       /* the moov announces fragments */
    uint8_t *tables;       /* the moov, or its needed parts */
    size_t tables_size;
    struct mp4_frags frags;
    int64_t file_size;     /* when it was opened */
    int64_t shift;         /* added to all times */
    bool seen[DEMUX_TRACKS]; /* the track has samples */
    int64_t begins[DEMUX_TRACKS], ends[DEMUX_TRACKS]; /* ticks of the file */
};

/* Positions are sample numbers, video in the upper half and audio in the lower half, or, with this
 * bit, numbers of entries. */
#define MP4_PLACE_FRAG (UINT64_C(1) << 63)

/* (mp4_progressive.c and mp4_fragments.c) */
demux_position mp4_progressive_seek(const struct mp4_index *x, int64_t time);
enum demux_status mp4_progressive_group(struct demux_group **out, const struct mp4_index *x,
                                        demux_position place, const char **why);
int64_t mp4_progressive_time(const struct mp4_index *x, demux_position place, int64_t *pts);
demux_position mp4_fragments_seek(const struct mp4_index *x, int64_t time);
int64_t mp4_fragments_time(const struct mp4_index *x, demux_position place, int64_t *pts);
enum demux_status mp4_fragments_group(struct demux_group **out, const struct mp4_index *x,
                                      const struct demux_input *in, demux_position place,
                                      const char **why);

#endif
