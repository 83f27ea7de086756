/* SPDX-License-Identifier: MIT */
/* hls_play.h - the clock of a player: what it has, what it showed, when the picture stood still.
 *
 * No I/O and no clock of its own: `now` is told. All times are µs.
 */
#ifndef TOOLS_LOAD_HLS_PLAY_H
#define TOOLS_LOAD_HLS_PLAY_H

#include "tools/load/stat.h"

struct load_hls_play {
    int64_t got, shown;     /* of media, since the begin; shown is more while we get to the begin */
    int64_t wall_end;       /* wall clock of where `got` ends; 0: the list does not tell */
    co_usec at;             /* when `shown` was right */
    co_usec stands_since;   /* the picture stands still since; 0: it moves, or has not begun */
    bool moves, counted;    /* the stall is in the count */
};

/* The time is `now`. A picture that stands still for `stall` is counted in s. */
void load_hls_play_turn(struct load_hls_play *p, struct load_stat *s, co_usec now,
                        co_usec stall);
/* Media of that length came. `wall`: when it was made, µs since 1970; 0: not known. */
void load_hls_play_add(struct load_hls_play *p, struct load_stat *s, co_usec now, co_usec stall,
                       int64_t duration, int64_t wall);
/* Begin, or go on elsewhere, `lead` after the begin of the media that comes next: no stall. */
void load_hls_play_jump(struct load_hls_play *p, co_usec now, int64_t lead);

static inline int64_t load_hls_play_ahead(const struct load_hls_play *p)
{
    return p->got - p->shown;
}

#endif
