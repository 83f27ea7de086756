/* SPDX-License-Identifier: MIT */
/* hls_list.h - a playlist as a player looks at it: what to fetch next, where to begin. No I/O.
 *
 * A unit is what is fetched at once: a segment, or with low latency a part while its segment is
 * listed in parts. [HLS] RFC 8216 and draft-pantos-hls-rfc8216bis.
 */
#ifndef TOOLS_LOAD_HLS_LIST_H
#define TOOLS_LOAD_HLS_LIST_H

#include "format/playlist/m3u8.h"

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

#endif
