/* SPDX-License-Identifier: MIT */
/* option.h - options and lists of them ([RTMFP] 2.1.3, 2.1.4).
 *
 * An option is VLU length, VLU type, value. One of length 0 is a marker. A list inside of a chunk
 * ends at its marker; certificates and the like may have markers among their options.
 */
#ifndef PROTO_RTMFP_OPTION_H
#define PROTO_RTMFP_OPTION_H

#include "proto/rtmfp/vlu.h"

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
