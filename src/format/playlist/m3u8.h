/* SPDX-License-Identifier: MIT */
/* m3u8.h - writer and reader of HLS media playlists. No I/O.
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
    int64_t wall;         /* begin, ms since 1970; 0: unknown */
    bool discontinuity;   /* does not continue the previous segment */
    bool gap;             /* the segment is missing */
    const char *uri;
    const char *map;      /* URI of the init segment of fragmented MP4, or NULL */
    const char *key;      /* URI of the AES-128 key, or NULL */
    uint8_t iv[16];
    const struct m3u8_part *parts;
    size_t n_parts;
};

struct m3u8 {
    int version;          /* EXT-X-VERSION */
    unsigned target;      /* seconds: EXT-X-TARGETDURATION */
    uint64_t sequence;    /* number of the first segment */
    uint64_t discontinuities; /* discontinuities of segments no longer listed */
    bool independent;     /* every segment can be decoded alone */
    int64_t part_target;  /* 1/90000 s; 0: no low latency */
    int64_t skip_until;   /* 1/90000 s: delta updates skip segments older than this; 0: none */
    uint64_t skipped;     /* number of segments that a delta update skips */
    const char *hint;     /* URI of the next part, or NULL */
    bool breaks;          /* the next segment does not continue the last one */
};

/* Write the text before the segments (with EXT-X-SKIP), of one segment, and after the segments. */
void m3u8_head(struct wr *w, const struct m3u8 *list);
/* `before`: the previous segment of the list, NULL for the first. */
void m3u8_put(struct wr *w, const struct m3u8_segment *s, const struct m3u8_segment *before);
/* Writes only the parts of a segment that is not complete yet. */
void m3u8_put_parts(struct wr *w, const struct m3u8_segment *s, const struct m3u8_segment *before);
void m3u8_tail(struct wr *w, const struct m3u8 *list);

/* Writes `before`, then a time in ms since 1970 in the form of HLS and DASH. */
void playlist_date(struct wr *w, const char *before, int64_t ms);

/* Smallest target duration for a segment, in seconds, rounded as in [HLS] 4.3.3.1. */
unsigned m3u8_seconds(int64_t duration);

/* Number of parts after the last listed one that a player may request, [HLS] bis 6.2.5.2. */
unsigned m3u8_advance_parts(int64_t part_target);

/* Copies a list and adds a query ("a=b") to the URLs of keys, to all others, or to both. */
enum { M3U8_URLS_MEDIA = 1, M3U8_URLS_KEYS = 2 };
void m3u8_add_query(struct wr *w, const char *text, size_t size, const char *query, unsigned which);

/* Writes a master list with one entry. `codecs` may be "". */
void m3u8_master(struct wr *w, const char *uri, unsigned bandwidth, const char *codecs,
                 uint32_t width, uint32_t height);

/* ---- reading */

struct m3u8_reader {
    const char *p, *end;
    struct m3u8 list;      /* header tags read so far */
    bool can_block;        /* EXT-X-SERVER-CONTROL: CAN-BLOCK-RELOAD */
    bool over;             /* EXT-X-ENDLIST was read */
    int64_t hold_back, part_hold_back; /* 1/90000 s; 0: unknown */
    /* the current item; texts point into the list */
    struct m3u8_text {
        const char *p;
        size_t n;
    } uri, map, key;
    struct m3u8_segment segment; /* without its texts */
    struct m3u8_part part;       /* without its URI */
    unsigned bandwidth;          /* bandwidth of a variant */
    bool given, variant;
};

enum m3u8_item {
    M3U8_END,
    M3U8_SEGMENT,
    M3U8_PART,    /* a part of the next segment, listed or not: r->part, r->uri */
    M3U8_HINT,    /* r->uri of the next part */
    M3U8_VARIANT, /* in a master list: r->uri, r->bandwidth */
};

/* ERR_MALFORMED: not a playlist. */
err_t m3u8_open(struct m3u8_reader *r, const char *text, size_t size)
    __attribute__((warn_unused_result));
/* Returns the next item with a URI, in order. The attributes of a segment (wall clock, map, key)
 * are also set for its parts. */
enum m3u8_item m3u8_item(struct m3u8_reader *r);

#endif
