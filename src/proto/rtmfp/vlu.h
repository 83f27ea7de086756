/* SPDX-License-Identifier: MIT */
/* vlu.h - numbers of variable length, and bytes behind one that says how many ([RTMFP] 2.1.2).
 *
 * Messages are read by base/rd.h: what does not fit sets `bad`. They are written by base/wr.h over
 * memory of the caller's (rtmfp_wr()): it never grows, what does not fit sets `bad`, too.
 */
#ifndef PROTO_RTMFP_VLU_H
#define PROTO_RTMFP_VLU_H

#include "base/rd.h"
#include "base/wr.h"

enum { RTMFP_VLU_MAX = 10 }; /* bytes: 64 bits, 7 in each */

/* Bytes in somebody else's memory. */
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

/* A writer into `room` bytes at `out`. */
static inline struct wr rtmfp_wr(uint8_t *out, size_t room)
{
    return (struct wr){ .buf = out, .cap = room, .limit = room };
}

/* Bad: cut, longer than RTMFP_VLU_MAX, or more than 64 bits. */
uint64_t rtmfp_vlu_read(struct rd *r);
void rtmfp_vlu_write(struct wr *w, uint64_t v);
size_t rtmfp_vlu_size(uint64_t v);

/* VLU n and n bytes; bad, too, if n is over `most`. */
struct rtmfp_bytes rtmfp_bytes_read(struct rd *r, size_t most);
void rtmfp_bytes_write(struct wr *w, struct rtmfp_bytes b);
/* All that is left. */
struct rtmfp_bytes rtmfp_rest(struct rd *r);

/* ---- options ([RTMFP] 2.1.3, 2.1.4): VLU length, VLU type, value. One of length 0 is a marker. A
 * list inside of a chunk ends at its marker; certificates and the like may have markers in it. */

enum { RTMFP_OPTIONS_MAX = 32 }; /* of any list: more is a syntax error */

struct rtmfp_option {
    bool marker;
    uint64_t type;
    struct rtmfp_bytes value;
};

struct rtmfp_options {
    struct rd r;
    unsigned n;        /* options that were read */
};

static inline struct rtmfp_options rtmfp_options_of(struct rtmfp_bytes list)
{
    return (struct rtmfp_options){ .r = rtmfp_rd(list) };
}

/* False: no more, or it is wrong there (rtmfp_options_bad()). */
bool rtmfp_option_next(struct rtmfp_options *o, struct rtmfp_option *out);

static inline bool rtmfp_options_bad(const struct rtmfp_options *o)
{
    return o->r.bad;
}

/* A list inside of a chunk: what is in front of its marker, which is read, too. */
struct rtmfp_bytes rtmfp_options_read(struct rd *r);

void rtmfp_option_write(struct wr *w, uint64_t type, struct rtmfp_bytes value);
/* The value is one number. */
void rtmfp_option_write_vlu(struct wr *w, uint64_t type, uint64_t value);
void rtmfp_marker_write(struct wr *w);

#endif
