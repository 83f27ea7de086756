/* SPDX-License-Identifier: MIT */
/* flv_impl.h - an FLV file's tags, their time, and its index; for the files flv_*.c alone.
 *
 * A place is an entry of the index: of a file with pictures a key frame, a second or more behind
 * the one before it. Entries come from the `keyframes` of the metadata as far as these are seen to
 * be right, the others from a walk over the headers of all tags. What is between two entries is a
 * group, made of those headers when somebody plays it. An entry says what the time of its tracks
 * is there, so groups can be made in any order, and times never fall from one to the next.
 *
 * [FLV] Adobe Flash Video File Format Specification 10.1, annex E.
 */
#ifndef FORMAT_DEMUX_FLV_IMPL_H
#define FORMAT_DEMUX_FLV_IMPL_H

#include "format/demux/impl.h"
#include "format/flv/flv.h"

/* ---- flv_tags.c: the tags of a file, one after the other */

enum { FLV_TAGS_BUFFER = 2048 };

struct flv_tags {
    const struct demux_input *in;
    int64_t at, end; /* of the next tag; of the file */
    int64_t have_at; /* what of the file is in buf */
    size_t have;
    uint8_t buf[FLV_TAGS_BUFFER];
};

struct flv_seen { /* a tag */
    int64_t at, body; /* in the file */
    struct flv_tag tag;
    bool media;    /* of a codec that we know, and more than a command; then says: */
    bool unknown;  /* of another codec */
    uint8_t track; /* DEMUX_VIDEO, DEMUX_AUDIO; of both of these */
    struct flv_body says;
};

void demux_flv_tags(struct flv_tags *t, const struct demux_input *in, int64_t at, int64_t end);
/* DEMUX_END: nothing that is a whole tag follows. */
enum demux_status demux_flv_next(struct flv_tags *t, struct flv_seen *out);
/* The time of the last sound in front of that tag, not far from it. DEMUX_END: there is none. */
enum demux_status demux_flv_audio_before(const struct demux_input *in, int64_t begin, int64_t at,
                                         uint32_t *time);

/* ---- flv_time.c: one time for all of a file, in milliseconds from its begin */

enum {
    FLV_GAP_MAX = 10000,       /* more forward is no gap but another clock */
    FLV_BACK_MAX = 1000,       /* likewise backward; less is a tag too late: time stands still */
    FLV_TIME_MAX = 0x7f000000, /* where a file ends for us: 24 days */
};

struct flv_time {
    struct {
        bool known;
        int32_t last;   /* never falls */
        uint32_t shift; /* its time is the tag's and this; wraps as that does */
    } v[DEMUX_TRACKS];
};

/* The time of the next tag of that track. */
int32_t demux_flv_time(struct flv_time *t, unsigned track, uint32_t raw);

/* ---- flv_keyframes.c: what the metadata say */

struct flv_keyframes { /* as they stand there, but for what is no number */
    size_t n;
    double *at, *time; /* of tags in the file; seconds */
    bool audio;        /* there is such a track */
};

/* All 0 where there is nothing to be had. False: there is no memory. */
bool demux_flv_keyframes(struct flv_keyframes *k, const uint8_t *body, size_t size);
void demux_flv_keyframes_free(struct flv_keyframes *k);

/* ---- the index */

enum { FLV_TIME_NONE = -1, FLV_TIME_LOOK = -2, FLV_TIME_KEY = -3 };
enum { FLV_ENTRY_EVERY = 1000 }; /* ms, at least */

struct flv_entry {
    int64_t at;                 /* of a tag */
    int32_t show;               /* decoding or presentation time, whichever is later; never falls */
    int32_t last[DEMUX_TRACKS]; /* newest times before it, of a key frame its own. FLV_TIME_NONE:
                                 * nothing was before; FLV_TIME_LOOK: the tags before it say it;
                                 * FLV_TIME_KEY: that of the key frame, it is not known better */
    uint32_t shift[DEMUX_TRACKS];
    bool starts;
};

struct flv_config { /* one that is another than that before it */
    int64_t at;     /* of its tag's body, */
    uint32_t size;  /* which is so large */
    uint8_t track;
};

struct flv_index {
    struct demux_index base; /* first */
    struct flv_entry *entries;
    size_t n, room;
    struct flv_config *configs; /* in the order of the file; not the first of a track */
    size_t n_configs, room_configs;
    int64_t begin, end;              /* of the tags */
    uint8_t *config[DEMUX_TRACKS];   /* the first one: a tag's body */
    int64_t config_at[DEMUX_TRACKS]; /* where that is */
};

/* ---- flv_scan.c: making it */

struct flv_scan {
    struct flv_index *x;
    size_t memory_max;
    struct flv_tags tags;
    struct flv_time time;
    int32_t end[DEMUX_TRACKS], delta[DEMUX_TRACKS]; /* of what was shown; of the last two */
    bool seen[DEMUX_TRACKS], unknown[DEMUX_TRACKS];
    int32_t first_cts;     /* of the first key frame, ms */
    int32_t zero;
    int32_t entry_time;    /* of the last entry, */
    unsigned since;        /* and samples since then */
    uint64_t samples;
    uint8_t *now[DEMUX_TRACKS]; /* the configuration in force */
    size_t now_size[DEMUX_TRACKS];
};

/* s->x, memory_max and tags are set; the rest is 0. Walk over all tags, but for those that the
 * metadata make unnecessary. What of `k` is in vain is freed. */
enum demux_status demux_flv_scan(struct flv_scan *s, struct flv_keyframes *k);
void demux_flv_scan_end(struct flv_scan *s); /* frees what it needed meanwhile */
/* DEMUX_TOO_LARGE, DEMUX_NO_MEMORY */
enum demux_status demux_flv_add_entry(struct flv_scan *s, const struct flv_entry *e);

/* flv_known.c: at a key frame that the metadata know as well, take what else they know. False in
 * *taken: nothing of it was to be trusted. Then the scan goes on at its next tag. */
enum demux_status demux_flv_take_known(struct flv_scan *s, const struct flv_keyframes *k,
                                       const struct flv_seen *key, bool *taken);
/* The newest time of sound before an entry, whoever made it. */
enum demux_status demux_flv_audio_floor(const struct flv_index *x, const struct demux_input *in,
                                        size_t entry, int32_t *out);

/* flv_group.c */
demux_position demux_flv_seek(const struct demux_index *index, int64_t time);
int64_t demux_flv_place_time(const struct demux_index *index, demux_position place, int64_t *pts);
enum demux_status demux_flv_group(struct demux_group **out, const struct demux_index *index,
                                  const struct demux_input *in, demux_position place,
                                  const char **why);

#endif
