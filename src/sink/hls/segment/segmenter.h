/* SPDX-License-Identifier: MIT */
/* segmenter.h - where a stream's segments and parts begin and end.
 *
 * Frames go in, and what is to be done with each comes out; it has no bytes, no files and no clock
 * of its own, so a test can drive it. Its user has the bytes:
 *
 *     segmenter_time(g, f);
 *     while ((todo = segmenter_next(g, f, how)) != SEGMENTER_ADD && todo != SEGMENTER_SKIP)
 *         SEGMENTER_END:   the segment ends at f->dts   segmenter_close()
 *         SEGMENTER_BEGIN: another one begins with f    segmenter_open()
 *         SEGMENTER_PART:  a part ends at f->dts        segmenter_part()
 *     SEGMENTER_ADD: f belongs to the segment that is open; SEGMENTER_SKIP: to none
 */
#ifndef SINK_HLS_SEGMENT_SEGMENTER_H
#define SINK_HLS_SEGMENT_SEGMENTER_H

#include "format/frame.h"

enum segmenter_parts {
    SEGMENTER_WHOLE,     /* segments have none */
    SEGMENTER_FRAGMENTS, /* so that little is kept in the muxer */
    SEGMENTER_PARTS,     /* low latency: players have them one by one */
};

struct segmenter_rules { /* times in 1/90000 s */
    int64_t fragment;        /* how long a segment is to be */
    double audio_ratio;      /* of that, without video */
    double target_ratio;     /* of that, the target duration in lists */
    bool wait_keyframe;      /* segments begin with one */
    bool floor;              /* they end where the wall clock's fragments do */
    enum segmenter_parts parts;
    int64_t part;            /* how long one is to be with low latency */
    bool periods;            /* times in files are those of the wall clock: DASH */
};

struct segmenter_begin { /* of a segment */
    int64_t at;          /* of the stream's time */
    int64_t wall;        /* ms since 1970 */
    bool discontinuity;  /* it does not go on from the last */
    int64_t period;      /* ms since 1970: of which one it is, */
    bool new_period;     /* which begins with it */
};

/* The own time of a stream's HLS. */
struct hls_time {
    bool started;
    int64_t offset;          /* to add to what comes in */
    int64_t last[2];         /* of video and audio, out */
    int64_t usual[2];        /* how long a frame lasts */
    bool seen[2];
};

struct segmenter {
    struct segmenter_rules rules;
    struct hls_time time;
    int64_t wall_base;       /* ms since 1970 at the stream's time 0; 0: to be set */
    int64_t late_since;      /* us: it is behind the wall clock; 0: it is not */
    bool discontinuity;      /* the next segment does not go on from the last */
    bool has_video;
    bool audio_alone;        /* the last segment ended without it */
    int64_t key_interval, key_at, waiting_at; /* < 0: none yet */

    bool open;
    struct segmenter_begin now; /* the segment that is open */
    int64_t floor;           /* which one of the wall clock's fragments */
    int64_t floor_name;      /* the same, but never that of another segment */
    int64_t longest;         /* 1/90000 s: a segment */
    unsigned target;         /* seconds: of the playlist */
    bool promised;           /* players have a playlist that says so */

    bool part_open, part_independent;
    int64_t part_begin;
    int64_t part_target;     /* the longest, 1/90000 s; 0: there was none */
    bool part_listed;        /* it is in a playlist */

    int64_t available;       /* ms since 1970: where the first period began; 0: not yet */
    int64_t period;          /* ms since 1970: where the newest one began */
    int64_t base;            /* ms since 1970 at the stream's time 0, in this period */
    int64_t over;            /* ms since 1970: nothing may begin before */
};

/* A publisher begins; `goes_on`: there was one before. Rules and what players know stay. */
void segmenter_restart(struct segmenter *g, bool goes_on);

/* Move a frame (no configuration) to the stream's time, and learn from it. */
void segmenter_time(struct segmenter *g, struct frame *f);
int64_t segmenter_end(const struct segmenter *g); /* where all that came ends */

enum segmenter_todo {
    SEGMENTER_END, SEGMENTER_BEGIN, SEGMENTER_PART, SEGMENTER_ADD, SEGMENTER_SKIP,
};
enum { /* flags */
    SEGMENTER_FULL = 1,     /* the segment has as many bytes as it may have: it ends */
    SEGMENTER_NO_END = 2,   /* unless it is full it goes on: there were too many in a short time */
    SEGMENTER_NO_PART = 4,  /* the same of the part */
};
/* The next step for this frame. */
enum segmenter_todo segmenter_next(struct segmenter *g, const struct frame *f, unsigned how);

/* A segment begins at `at`: how is in g->now. The wall clock in ms since 1970, and a clock that
 * nobody sets, in us. */
void segmenter_open(struct segmenter *g, int64_t at, int64_t wall, int64_t now);
/* It ended, and is in the list that players get; or it is lost, and what comes next does not go on
 * from what was before if that is `broken`. */
void segmenter_close(struct segmenter *g, int64_t end);
void segmenter_lose(struct segmenter *g, bool broken);
/* A part ends: how long it is. Then g->part_independent says whether a player can start in it. */
int64_t segmenter_part(struct segmenter *g, int64_t end);
/* No player has a playlist any more. */
void segmenter_forget(struct segmenter *g);

/* The same decoder configuration came late, not another one: less than this into a segment. */
bool segmenter_is_young(const struct segmenter *g);

#endif
