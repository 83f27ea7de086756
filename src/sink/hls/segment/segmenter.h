/* SPDX-License-Identifier: MIT */
/* segmenter.h - decides where segments and parts begin and end.
 *
 * It receives frames and returns what to do with each. It has no bytes, files or clock, so a test
 * can drive it. Its caller has the bytes:
 *
 *     segmenter_time(g, f);
 *     while ((todo = segmenter_next(g, f, how)) != SEGMENTER_ADD && todo != SEGMENTER_SKIP)
 *         SEGMENTER_END:   the segment ends at f->dts   segmenter_close()
 *         SEGMENTER_BEGIN: a new one begins with f      segmenter_open()
 *         SEGMENTER_PART:  a part ends at f->dts        segmenter_part()
 *     SEGMENTER_ADD: f belongs to the open segment; SEGMENTER_SKIP: to none
 */
#ifndef SINK_HLS_SEGMENT_SEGMENTER_H
#define SINK_HLS_SEGMENT_SEGMENTER_H

#include "format/frame.h"

enum segmenter_parts {
    SEGMENTER_WHOLE,     /* no parts */
    SEGMENTER_FRAGMENTS, /* parts only limit the memory of the muxer */
    SEGMENTER_PARTS,     /* low latency: players fetch them one by one */
};

struct segmenter_rules { /* times in 1/90000 s */
    int64_t fragment;        /* desired duration of a segment */
    double audio_ratio;      /* factor for streams without video */
    double target_ratio;     /* factor for the target duration in playlists */
    bool wait_keyframe;      /* segments begin with a key frame */
    bool floor;              /* segments end at fragments of the wall clock */
    enum segmenter_parts parts;
    int64_t part;            /* desired duration of a part with low latency */
    bool periods;            /* DASH: times in files are wall clock times */
};

struct segmenter_begin { /* start of a segment */
    int64_t at;          /* time of the stream */
    int64_t wall;        /* ms since 1970 */
    bool discontinuity;  /* it does not continue the previous one */
    int64_t period;      /* start of its period, ms since 1970, */
    bool new_period;     /* which starts with this segment */
};

/* Time of a stream's HLS. */
struct hls_time {
    bool started;
    int64_t offset;          /* added to the input's time */
    int64_t last[2];         /* last output time of video and audio */
    int64_t usual[2];        /* usual frame duration of video and audio */
    bool seen[2];
};

struct segmenter {
    struct segmenter_rules rules;
    struct hls_time time;
    int64_t wall_base;       /* ms since 1970 at the stream's time 0; 0: not set */
    int64_t late_since;      /* since when it is behind the wall clock, us; 0: it is not */
    bool discontinuity;      /* the next segment does not continue the previous one */
    bool has_video;
    bool audio_alone;        /* the last segment ended with audio only */
    int64_t key_interval, key_at, waiting_at; /* < 0: none yet */

    bool open;
    struct segmenter_begin now; /* the open segment */
    int64_t floor;           /* number of the wall clock's fragment */
    int64_t floor_name;      /* the same, but unique among segments */
    int64_t longest;         /* longest segment, 1/90000 s */
    unsigned target;         /* target duration of the playlist, seconds */
    bool promised;           /* the target was published in a playlist */

    bool part_open, part_independent;
    int64_t part_begin;
    int64_t part_target;     /* longest part, 1/90000 s; 0: there was none */
    bool part_listed;        /* the part target was published in a playlist */

    int64_t available;       /* start of the first period, ms since 1970; 0: none yet */
    int64_t period;          /* start of the newest period, ms since 1970 */
    int64_t base;            /* ms since 1970 at the stream's time 0, in this period */
    int64_t over;            /* ms since 1970: no segment may begin before this time */
};

/* A publisher begins; `goes_on`: there was one before. Rules and published values stay. */
void segmenter_restart(struct segmenter *g, bool goes_on);

/* Moves a frame (not a codec configuration) to the stream's time, and learns from it. */
void segmenter_time(struct segmenter *g, struct frame *f);
int64_t segmenter_end(const struct segmenter *g); /* end of all frames so far */

enum segmenter_todo {
    SEGMENTER_END, SEGMENTER_BEGIN, SEGMENTER_PART, SEGMENTER_ADD, SEGMENTER_SKIP,
};
enum { /* flags */
    SEGMENTER_FULL = 1,     /* the segment has reached its size limit and ends */
    SEGMENTER_NO_END = 2,   /* too many segments in a short time: it must not end unless full */
    SEGMENTER_NO_PART = 4,  /* too many parts in a short time */
};
/* Returns the next step for this frame. */
enum segmenter_todo segmenter_next(struct segmenter *g, const struct frame *f, unsigned how);

/* A segment begins at `at`; fills in g->now. `wall` is the wall clock in ms since 1970, `now` the
 * monotonic clock in us. */
void segmenter_open(struct segmenter *g, int64_t at, int64_t wall, int64_t now);
/* segmenter_close(): the segment ended and is published. segmenter_lose(): the segment is lost;
 * with `broken` the next one is a discontinuity. */
void segmenter_close(struct segmenter *g, int64_t end);
void segmenter_lose(struct segmenter *g, bool broken);
/* Ends a part and returns its duration; g->part_independent says whether a player can start in it.
 * */
int64_t segmenter_part(struct segmenter *g, int64_t end);
/* No player has a playlist any more, so published values may change. */
void segmenter_forget(struct segmenter *g);

/* Returns true shortly after the start of a segment, when a codec configuration is a late one
 * rather than a new one. */
bool segmenter_is_young(const struct segmenter *g);

#endif
