/* SPDX-License-Identifier: MIT */
/* flv_impl.h - tags, times and index of an FLV file; only for the files flv_*.c.
 *
 * A position is an entry of the index. In a file with video an entry is a key frame, at least a
 * second after the previous entry. Entries come from the `keyframes` of the metadata as far as
 * these prove correct; the others come from a scan over the headers of all tags. The tags between
 * two entries are a group, which is built from their headers when it is played. An entry has the
 * times of all tracks at its position, so groups can be built in any order and times never decrease
 * from one group to the next.
 *
 * [FLV] Adobe Flash Video File Format Specification 10.1, annex E.
 */
#ifndef FORMAT_DEMUX_FLV_IMPL_H
#define FORMAT_DEMUX_FLV_IMPL_H

#include "format/demux/impl.h"
#include "format/flv/flv.h"

/* ---- flv_tags.c: the tags of a file, one after another */

enum { FLV_TAGS_BUFFER = 2048 };

struct flv_tags {
    const struct demux_input *in;
    int64_t at, end; /* offset of the next tag; end of the file */
    int64_t have_at; /* offset of the bytes in buf */
    size_t have;
    uint8_t buf[FLV_TAGS_BUFFER];
};

struct flv_seen { /* a tag */
    int64_t at, body; /* offsets in the file */
    struct flv_tag tag;
    bool media;    /* its codec is known, and it is more than a command; then these are set: */
    bool unknown;  /* its codec is unknown */
    uint8_t track; /* DEMUX_VIDEO, DEMUX_AUDIO; set for both kinds */
    struct flv_body says;
};

void demux_flv_tags(struct flv_tags *t, const struct demux_input *in, int64_t at, int64_t end);
/* Gives the next tag. DEMUX_END: no complete tag follows. */
enum demux_status demux_flv_next(struct flv_tags *t, struct flv_seen *out);
/* Gives the time of the last audio tag shortly before that tag. DEMUX_END: there is none. */
enum demux_status demux_flv_audio_before(const struct demux_input *in, int64_t begin, int64_t at,
                                         uint32_t *time);

/* ---- flv_time.c: continuous times for the whole file, in milliseconds from its start */

enum {
    FLV_GAP_MAX = 10000,       /* a larger step forward is not a gap but a new clock */
    /* the same backward; a smaller step is a late tag, which gets the last time */
    FLV_BACK_MAX = 1000,
    FLV_TIME_MAX = 0x7f000000, /* longest file: 24 days */
};

struct flv_time {
    struct {
        bool known;
        int32_t last;   /* never decreases */
        uint32_t shift; /* added to the time of tags; wraps like it */
    } v[DEMUX_TRACKS];
};

/* Returns the time of the track's next tag, whose own time is `raw`. */
int32_t demux_flv_time(struct flv_time *t, unsigned track, uint32_t raw);

/* ---- flv_keyframes.c: the metadata */

struct flv_keyframes { /* as in the file, without values that are not numbers */
    size_t n;
    double *at, *time; /* offsets of tags in the file; seconds */
    bool audio;        /* there is such a track */
};

/* Reads the key frames of the metadata; all 0 if there are none. False: out of memory. */
bool demux_flv_keyframes(struct flv_keyframes *k, const uint8_t *body, size_t size);
void demux_flv_keyframes_free(struct flv_keyframes *k);

/* ---- the index */

enum { FLV_TIME_NONE = -1, FLV_TIME_LOOK = -2, FLV_TIME_KEY = -3 };
enum { FLV_ENTRY_EVERY = 1000 }; /* ms, at least */

struct flv_entry {
    int64_t at;                 /* offset of a tag */
    int32_t show;               /* the later of decoding and presentation time; never decreases */
    int32_t last[DEMUX_TRACKS]; /* newest times before it; for a key frame, its own. FLV_TIME_NONE:
                                 * none; FLV_TIME_LOOK: read it from the tags before; FLV_TIME_KEY:
                                 * unknown, use the key frame's */
    uint32_t shift[DEMUX_TRACKS];
    bool starts;
};

struct flv_config { /* a configuration that differs from the one before */
    int64_t at;     /* offset of its tag's body, */
    uint32_t size;  /* and size of the body */
    uint8_t track;
};

struct flv_index {
    struct demux_index base; /* first */
    struct flv_entry *entries;
    size_t n, room;
    struct flv_config *configs; /* in file order, without the first one of a track */
    size_t n_configs, room_configs;
    int64_t begin, end;              /* range of the tags in the file */
    uint8_t *config[DEMUX_TRACKS];   /* the first configuration: a tag's body */
    int64_t config_at[DEMUX_TRACKS]; /* its offset in the file */
};

/* ---- flv_scan.c: building the index */

struct flv_scan {
    struct flv_index *x;
    size_t memory_max;
    struct flv_tags tags;
    struct flv_time time;
    /* end of presentation; distance of the last two frames */
    int32_t end[DEMUX_TRACKS], delta[DEMUX_TRACKS];
    bool seen[DEMUX_TRACKS], unknown[DEMUX_TRACKS];
    int32_t first_cts;     /* composition offset of the first key frame, ms */
    int32_t zero;
    int32_t entry_time;    /* time of the last entry, */
    unsigned since;        /* and samples since it */
    uint64_t samples;
    uint8_t *now[DEMUX_TRACKS]; /* the current configuration */
    size_t now_size[DEMUX_TRACKS];
};

/* Scans all tags, except those that the metadata makes unnecessary. s->x, memory_max and tags must
 * be set and the rest 0. Frees unneeded parts of `k`. */
enum demux_status demux_flv_scan(struct flv_scan *s, struct flv_keyframes *k);
void demux_flv_scan_end(struct flv_scan *s); /* frees the scan's own memory */
/* Adds an entry. DEMUX_TOO_LARGE, DEMUX_NO_MEMORY. */
enum demux_status demux_flv_add_entry(struct flv_scan *s, const struct flv_entry *e);

/* flv_known.c: at a key frame that the metadata lists, adds the other listed key frames. *taken is
 * false if the list proved wrong. Then the scan continues with its next tag. */
enum demux_status demux_flv_take_known(struct flv_scan *s, const struct flv_keyframes *k,
                                       const struct flv_seen *key, bool *taken);
/* Gives the newest audio time before an entry, from a scan or from the metadata. */
enum demux_status demux_flv_audio_floor(const struct flv_index *x, const struct demux_input *in,
                                        size_t entry, int32_t *out);

/* flv_group.c */
demux_position demux_flv_seek(const struct demux_index *index, int64_t time);
int64_t demux_flv_place_time(const struct demux_index *index, demux_position place, int64_t *pts);
enum demux_status demux_flv_group(struct demux_group **out, const struct demux_index *index,
                                  const struct demux_input *in, demux_position place,
                                  const char **why);

#endif
