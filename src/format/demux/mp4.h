/* SPDX-License-Identifier: MIT */
/* mp4.h - what the files of the MP4 reader share; for format/demux/mp4_*.c, and for mp4/final.c
 * which reads the fragments of recordings.
 *
 * [ISO-FF] ISO/IEC 14496-12. Boxes are read in place: what is kept of a file is its moov as it
 * lies there, and of fragments where they are.
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

/* The next box in a box; false: none, or what is left is none. */
bool mp4_tree_next(struct rd *in, struct mp4_node *b);
/* The body of the first one of that type; a bad and empty reader if there is none. */
struct rd mp4_tree_find(struct rd in, uint32_t type);

static inline uint32_t mp4_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* ---- boxes of the file itself (mp4_window.c) */

struct mp4_window {
    const struct demux_input *in;
    uint8_t *buf;
    int64_t at;        /* of buf */
    size_t have, cap;
    size_t usual;      /* bytes to read where nothing is known */
};

struct mp4_top {
    uint32_t type;
    int64_t at, size;  /* of the whole box; within the file */
    unsigned head;     /* bytes before its body */
    bool cut;          /* the file ends in it */
};

bool mp4_window_init(struct mp4_window *w, const struct demux_input *in); /* false: no memory */
void mp4_window_fini(struct mp4_window *w);
/* So many bytes of the file, in place until the next call; NULL: *st says why. */
const uint8_t *mp4_window_get(struct mp4_window *w, int64_t at, size_t size,
                              enum demux_status *st);
/* The box that begins there. DEMUX_END: the file is over; DEMUX_BROKEN: it is none. */
enum demux_status mp4_window_box(struct mp4_window *w, int64_t at, struct mp4_top *b);

/* ---- sample descriptions (mp4_codec.c) */

struct mp4_codec {
    enum av_codec codec; /* AV_CODEC_NONE: it cannot be played */
    uint8_t *config;     /* malloc'ed; NULL: none */
    size_t size;
};

/* The first entry of an stsd. False: there is no memory. */
bool mp4_codec_read(struct mp4_codec *c, bool video, struct rd stsd);

/* ---- sample tables (mp4_table.c) */

struct mp4_rows { /* of a table, as they lie in the file */
    const uint8_t *v;
    uint32_t n;
};

/* Where a sample is in all tables at once. */
struct mp4_cursor {
    uint32_t n;            /* of the sample, from 0 */
    uint32_t time_row, time_left;     /* stts; how many samples of that row are left */
    uint32_t offset_row, offset_left; /* ctts */
    uint32_t chunk, chunk_row, chunk_left; /* stco, stsc */
    int64_t dts;           /* ticks */
    uint64_t at;           /* in the file */
};

enum { MP4_TABLES = 6 };

struct mp4_table {
    union {
        struct { /* stts ctts stsc stss stco stsz */
            struct mp4_rows times, offsets, runs, keys, chunks, sizes;
        };
        struct mp4_rows rows[MP4_TABLES]; /* the same */
    };
    bool wide;             /* chunks are those of a co64 */
    bool has_keys;         /* else all samples are */
    uint8_t size_bits;     /* 4, 8, 16, 32; 0: all are `size` */
    uint32_t size;
    uint32_t entries;      /* in stsd */
    uint32_t first, n;     /* samples to play: from, and up to */
    int64_t end;           /* ticks: when the last one is over */
    int32_t least;         /* offset that there is; at most 0 */
    struct mp4_cursor *marks; /* every MP4_MARK samples */
    uint32_t n_marks;
};

enum { MP4_MARK = 64 }; /* a byte of memory for each sample, or less */

struct mp4_trak;

/* Take the tables of an stbl, in place. */
void mp4_table_take(struct mp4_table *t, struct rd stbl);
/* Count the samples that are within the file, and make marks. */
enum demux_status mp4_table_build(struct mp4_table *t, int64_t file_size, uint32_t scale,
                                  const char **why);
struct mp4_cursor mp4_table_at(const struct mp4_table *t, uint32_t n);
bool mp4_table_next(const struct mp4_table *t, struct mp4_cursor *c); /* false: it was the last */
uint32_t mp4_table_size(const struct mp4_table *t, const struct mp4_cursor *c);
int32_t mp4_table_offset(const struct mp4_table *t, const struct mp4_cursor *c);
/* Is it described by the first entry of stsd? */
bool mp4_table_described(const struct mp4_table *t, const struct mp4_cursor *c);
/* The first sample whose decoding time is not before that many ticks. */
uint32_t mp4_table_find(const struct mp4_table *t, int64_t ticks);
/* The last key at or before n, at least the first; the first key behind n, or t->n. */
uint32_t mp4_table_key(const struct mp4_table *t, uint32_t n);
uint32_t mp4_table_next_key(const struct mp4_table *t, uint32_t n);

/* ---- tracks (mp4_moov.c) */

struct mp4_trak {
    uint32_t id, scale;
    uint32_t width, height; /* pixels */
    bool video, enabled;
    struct rd stsd;        /* as it lies in the moov */
    struct mp4_codec codec;
    struct mp4_table table;
    int64_t from, to;      /* ticks: what of the media is presented; to: INT64_MAX, all */
    int64_t wait;          /* 1/90000 s: it is presented so much later */
    int64_t early;         /* ticks: it is decoded so much before what the file says, so that
                            * nothing is presented before it is decoded */
    uint32_t duration, size, flags; /* defaults of trex */
    uint32_t per_second;   /* samples, about */
};

struct mp4_index;

/* What is in a moov: tracks to play, and what is left out. Their tables are used in place. */
enum demux_status mp4_moov_read(struct mp4_index *x, struct rd moov, int64_t file_size,
                                const char **why);
void mp4_moov_drop(struct mp4_trak *t);
/* Keep of the moov only what is looked at later, if that is much less. */
void mp4_moov_shrink(struct mp4_index *x);

/* From the track's ticks to 1/90000 s of the presentation, before it is moved; of decoding times,
 * and the first such tick that is not before that time; of composition. */
int64_t mp4_moov_time(const struct mp4_trak *t, int64_t ticks);
int64_t mp4_moov_dts(const struct mp4_trak *t, int64_t ticks);
int64_t mp4_moov_ticks(const struct mp4_trak *t, int64_t dts);
int32_t mp4_moov_cts(const struct mp4_trak *t, int64_t ticks, int32_t offset);
/* An offset below 0 was seen. */
void mp4_moov_early(struct mp4_trak *t, int32_t offset);

/* ---- fragments (mp4_moof.c, mp4_scan.c, mp4_known.c) */

struct mp4_entry { /* where a group begins */
    int64_t at;            /* of the moof */
    int64_t dts;           /* of that sample, ticks of the main track */
    int64_t last[DEMUX_TRACKS];   /* ticks: decoding times before this moof; none falls below */
    uint32_t lasts[DEMUX_TRACKS]; /* how long those last */
    uint32_t number;       /* of the sample of the main track, in its moof */
    int32_t late;          /* ticks: it is presented so much later than decoded */
    bool starts;
};

struct mp4_frags {
    struct mp4_entry *v;
    uint32_t n;
    size_t cap;
    int64_t end;           /* of the file, as far as there are fragments */
    bool keyless;          /* no sample says that it is a key */
};

enum { MP4_MOOF_MAX = 8 * 1024 * 1024, MP4_MOOF_SAMPLES = 1 << 19 };

struct mp4_moof_sample {
    int64_t at;
    uint32_t size, number; /* in its track, of this moof */
    int64_t dts;           /* ticks */
    int32_t offset;        /* ticks */
    uint32_t duration;
    uint8_t track;
    bool key;
};

/* A walk over the samples of a moof. */
struct mp4_moof {
    const struct mp4_index *x;
    int64_t at, file_size;
    struct rd trafs, truns, rows;
    uint32_t left, flags, row;      /* of the trun; row: bytes of one */
    uint32_t samples;               /* seen so far */
    uint32_t duration, size, sample_flags, first_flags;
    bool first;                     /* of its trun */
    int64_t base, data;             /* of the traf; where the next sample is */
    uint8_t track;
    uint32_t number[DEMUX_TRACKS];
    int64_t time[DEMUX_TRACKS];     /* of the next sample */
    int64_t last[DEMUX_TRACKS];
    uint32_t lasts[DEMUX_TRACKS];
};

void mp4_moof_begin(struct mp4_moof *m, const struct mp4_index *x, struct rd body, int64_t at,
                    int64_t file_size);
/* The box at b->at, as mp4_window_box() has it: a walk over its samples, without any if it is no
 * moof. DEMUX_END: of a moof not all is there. */
enum demux_status mp4_moof_open(struct mp4_moof *m, const struct mp4_index *x,
                                struct mp4_window *w, struct mp4_top *b);
bool mp4_moof_next(struct mp4_moof *m, struct mp4_moof_sample *s);

/* Find the fragments behind the moov, for so many bytes of entries. */
enum demux_status mp4_scan(struct mp4_index *x, struct mp4_window *w, int64_t from,
                           size_t memory, const char **why);

/* Append an entry; false: there is no memory. */
bool mp4_scan_add(struct mp4_frags *f, const struct mp4_entry *e);
/* When tracks begin and end, of this sample too. */
void mp4_scan_note(struct mp4_index *x, const struct mp4_moof_sample *m);

/* The same without a look at each, where the file has a list of them that can be believed
 * (mp4_known.c). */
bool mp4_known(struct mp4_index *x, struct mp4_window *w, int64_t from, size_t memory);

/* ---- the whole (mp4_open.c) */

struct mp4_index {
    struct demux_index head;
    struct mp4_trak tracks[DEMUX_TRACKS];
    uint8_t main;          /* DEMUX_VIDEO, or DEMUX_AUDIO if that is alone */
    uint32_t movie_scale;
    bool fragmented;       /* moov says that fragments follow */
    uint8_t *tables;       /* the moov, or what is played of it */
    size_t tables_size;
    struct mp4_frags frags;
    int64_t file_size;     /* when it was opened */
    int64_t shift;         /* all times are moved by it */
    bool seen[DEMUX_TRACKS]; /* there are samples */
    int64_t begins[DEMUX_TRACKS], ends[DEMUX_TRACKS]; /* of these, ticks of the file */
};

/* Places: of samples in tables, video in the upper half and audio in the lower; or of entries. */
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
