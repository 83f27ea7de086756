/* SPDX-License-Identifier: MIT */
/* hls.h - an HLS player without I/O: parses playlists, chooses what to fetch, and keeps the
 * playback clock.
 *
 * A unit is what is fetched at once: a segment, or with low latency a part while its segment is
 * listed in parts. [HLS] RFC 8216 and draft-pantos-hls-rfc8216bis.
 */
#ifndef TOOLS_LOAD_HLS_H
#define TOOLS_LOAD_HLS_H

#include "format/playlist/m3u8.h"
#include "tools/load/stat.h"

enum { LOAD_HLS_UNITS = 20000 };

struct load_hls_place { /* of a unit in the stream */
    uint64_t segment;
    int part;
};

struct load_hls_unit {
    struct load_hls_place at;
    bool whole;          /* all of a segment */
    bool independent, gap;
    int64_t duration;    /* 1/90000 s */
    int64_t wall;        /* ms since 1970 when it began; 0: not told */
    struct m3u8_text uri, map, key; /* in the text of the list */
};

struct load_hls_list {
    struct load_hls_unit *units;
    size_t n;
    unsigned target;          /* s, at least 1 */
    int64_t hold_back;        /* 1/90000 s: how far behind the end to play */
    bool parts;               /* low latency: parts and blocking reloads */
    int64_t skip_until;       /* 1/90000 s: it can be asked for without what is older; 0: not */
    bool over;                /* it grows no more */
    struct m3u8_text hint;    /* of the part to come; p NULL: none */
    struct m3u8_text variant; /* of a master list: the best one; p NULL: it is none */
    struct load_hls_place end; /* the unit to come */
};

/* Read `text`, which has to stay while the list is used. `plain`: without low latency whatever it
 * offers. ERR_MALFORMED, ERR_TOO_MANY. */
err_t load_hls_list_parse(struct load_hls_list *l, const char *text, size_t size, bool plain)
    __attribute__((warn_unused_result));
void load_hls_list_free(struct load_hls_list *l); /* all zero is fine */

/* The first unit that is not before `at`; l->n: none yet. */
size_t load_hls_list_find(const struct load_hls_list *l, struct load_hls_place at);
/* Does that unit follow what was played up to `at` without a hole? */
bool load_hls_list_follows(const struct load_hls_list *l, size_t i, struct load_hls_place at);
/* The place behind a unit. */
struct load_hls_place load_hls_list_after(const struct load_hls_unit *u);
/* Where to begin, `hold_back` (1/90000 s) before the end. */
size_t load_hls_list_start(const struct load_hls_list *l, int64_t hold_back);
/* How long the units from this one on last, 1/90000 s. */
int64_t load_hls_list_left(const struct load_hls_list *l, size_t i);

/* ---- hls_play.c: playback clock: media received, media shown, and stalls. All times are µs. */

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
