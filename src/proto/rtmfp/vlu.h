/* SPDX-License-Identifier: MIT */
/* vlu.h - variable-length integers, and byte strings with a length prefix ([RTMFP] 2.1.2).
 *
 * Reading uses base/rd.h: truncated input sets `bad`. Writing uses base/wr.h over the caller's
 * memory (rtmfp_wr()): it never grows, and overflow sets `bad`.
 */
#ifndef PROTO_RTMFP_VLU_H
#define PROTO_RTMFP_VLU_H

#include "base/rd.h"
#include "base/wr.h"

enum { RTMFP_VLU_MAX = 10 }; /* bytes: 64 bits, 7 per byte */

/* Bytes in memory owned by others. */
struct rtmfp_bytes {
    const uint8_t *p;
    size_t n;
};

static inline struct rtmfp_bytes rtmfp_bytes(const void *p, size_t n)
{
    return (struct rtmfp_bytes){ p, n };
}

static inline struct rd rtmfp_rd(struct rtmfp_bytes b)
{
    return rd_init(b.p, b.n);
}

bool rtmfp_bytes_same(struct rtmfp_bytes a, struct rtmfp_bytes b);

/* Returns a writer for `room` bytes at `out`. */
static inline struct wr rtmfp_wr(uint8_t *out, size_t room)
{
    return (struct wr){ .buf = out, .cap = room, .limit = room };
}

/* Sets `bad` if it is truncated, longer than RTMFP_VLU_MAX, or exceeds 64 bits. */
uint64_t rtmfp_vlu_read(struct rd *r);
void rtmfp_vlu_write(struct wr *w, uint64_t v);
size_t rtmfp_vlu_size(uint64_t v);

/* Reads a VLU n and n bytes; sets `bad` also if n exceeds `most`. */
struct rtmfp_bytes rtmfp_bytes_read(struct rd *r, size_t most);
void rtmfp_bytes_write(struct wr *w, struct rtmfp_bytes b);
/* Returns all remaining bytes. */
struct rtmfp_bytes rtmfp_rest(struct rd *r);

/* ---- options ([RTMFP] 2.1.3, 2.1.4): VLU length, VLU type, value. Length 0 is a marker. A list
 * inside a chunk ends at its marker; certificates and the like may contain markers. */

enum { RTMFP_OPTIONS_MAX = 32 }; /* limit per list: more is a syntax error */

struct rtmfp_option {
    bool marker;
    uint64_t type;
    struct rtmfp_bytes value;
};

struct rtmfp_options {
    struct rd r;
    unsigned n;        /* options read so far */
};

static inline struct rtmfp_options rtmfp_options_of(struct rtmfp_bytes list)
{
    return (struct rtmfp_options){ .r = rtmfp_rd(list) };
}

/* Returns false at the end, or at an invalid option (rtmfp_options_bad()). */
bool rtmfp_option_next(struct rtmfp_options *o, struct rtmfp_option *out);

static inline bool rtmfp_options_bad(const struct rtmfp_options *o)
{
    return o->r.bad;
}

/* Reads a list inside a chunk: returns the part before its marker, and consumes the marker. */
struct rtmfp_bytes rtmfp_options_read(struct rd *r);

void rtmfp_option_write(struct wr *w, uint64_t type, struct rtmfp_bytes value);
/* Writes an option whose value is one number. */
void rtmfp_option_write_vlu(struct wr *w, uint64_t type, uint64_t value);
void rtmfp_marker_write(struct wr *w);

#endif
