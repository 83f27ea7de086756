/* SPDX-License-Identifier: MIT */
/* m3u8.h - HLS media playlists: written, and read back to go on with them. No I/O.
 *
 * [HLS] RFC 8216, with draft-pantos-hls-rfc8216bis for the low-latency parts.
 */
#ifndef FORMAT_PLAYLIST_M3U8_H
#define FORMAT_PLAYLIST_M3U8_H

#include "base/err.h"
#include "base/wr.h"

#include <stdbool.h>
#include <stdint.h>

struct m3u8_part {
    int64_t duration;  /* 1/90000 s */
    bool independent;  /* a player can start in it */
    const char *uri;
};

struct m3u8_segment {
    int64_t duration;     /* 1/90000 s */
    int64_t wall;         /* when it began, ms since 1970; 0: unknown */
    bool discontinuity;   /* it does not go on from the one before */
    bool gap;             /* it is missing */
    const char *uri;
    const char *map;      /* the initialization of fragmented MP4, or NULL */
    const char *key;      /* where the AES-128 key is, or NULL */
    uint8_t iv[16];
    const struct m3u8_part *parts;
    size_t n_parts;
};

struct m3u8 {
    int version;          /* EXT-X-VERSION */
    unsigned target;      /* seconds: EXT-X-TARGETDURATION */
    uint64_t sequence;    /* of the first segment */
    uint64_t discontinuities; /* that left the list */
    bool independent;     /* every segment can be decoded alone */
    int64_t part_target;  /* 1/90000 s; 0: no low latency */
    int64_t skip_until;   /* 1/90000 s: updates leave out what is so far from the end; 0: none */
    uint64_t skipped;     /* an update: so many segments are left out, the player has them */
    const char *hint;     /* the uri of the part to come, or NULL */
    bool breaks;          /* what comes next does not go on from the last segment */
};

/* The text before the segments (and in place of the skipped ones), of one segment, after them. */
void m3u8_head(struct wr *w, const struct m3u8 *list);
/* `before`: the segment before it in the list, NULL for the first. */
void m3u8_put(struct wr *w, const struct m3u8_segment *s, const struct m3u8_segment *before);
/* The segment that is not complete yet: its parts alone. */
void m3u8_put_parts(struct wr *w, const struct m3u8_segment *s, const struct m3u8_segment *before);
void m3u8_tail(struct wr *w, const struct m3u8 *list);

/* A time in ms since 1970 behind some text; lists of HLS and DASH write it alike. */
void playlist_date(struct wr *w, const char *before, int64_t ms);

/* Seconds that a target duration must be for a segment: rounded as [HLS] 4.3.3.1 says. */
unsigned m3u8_seconds(int64_t duration);

/* [HLS] bis 6.2.5.2: parts beyond the last one of a list that a player may ask for. */
unsigned m3u8_advance_parts(int64_t part_target);

/* Copy a list and put a query ("a=b") behind its urls, those of keys or all others or both. */
enum { M3U8_URLS_MEDIA = 1, M3U8_URLS_KEYS = 2 };
void m3u8_add_query(struct wr *w, const char *text, size_t size, const char *query, unsigned which);

/* A master list of one entry. `codecs` may be "". */
void m3u8_master(struct wr *w, const char *uri, unsigned bandwidth, const char *codecs,
                 uint32_t width, uint32_t height);

/* ---- reading */

struct m3u8_reader {
    const char *p, *end;
    struct m3u8 list;      /* the tags of the head, as far as they came */
    bool can_block;        /* EXT-X-SERVER-CONTROL: CAN-BLOCK-RELOAD */
    bool over;             /* EXT-X-ENDLIST came */
    int64_t hold_back, part_hold_back; /* 1/90000 s; 0: unknown */
    /* of the item; texts point into the list, with their sizes */
    struct m3u8_text {
        const char *p;
        size_t n;
    } uri, map, key;
    struct m3u8_segment segment; /* but for its texts */
    struct m3u8_part part;       /* but for its uri */
    unsigned bandwidth;          /* of a variant */
    bool given, variant;
};

enum m3u8_item {
    M3U8_END,
    M3U8_SEGMENT,
    M3U8_PART,    /* of the segment that comes, or would come, behind it: r->part, r->uri */
    M3U8_HINT,    /* r->uri of the part to come */
    M3U8_VARIANT, /* of a master list: r->uri, r->bandwidth */
};

/* ERR_MALFORMED: no playlist. */
err_t m3u8_open(struct m3u8_reader *r, const char *text, size_t size)
    __attribute__((warn_unused_result));
/* The next item that has a uri, in order. What was read for a segment (its wall clock,
 * map, key) is there for its parts. */
enum m3u8_item m3u8_item(struct m3u8_reader *r);

#endif
