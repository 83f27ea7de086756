/* SPDX-License-Identifier: MIT */
/* ranges.h - which sequence numbers of a flow came: all up to one, and ranges above it.
 *
 * RFC 7016, section 3.6.3.2 (the set of sequence numbers seen). Memory only while there are gaps,
 * and bounded: what would be one range too many is refused, as if it had never come.
 */
#ifndef PROTO_RTMFP_RANGES_H
#define PROTO_RTMFP_RANGES_H

#include "proto/rtmfp/chunks.h"

enum { RTMFP_RANGES_MAX = 256 };

struct rtmfp_ranges { /* zeroed: nothing came, numbers begin at 1 */
    uint64_t upto;            /* this one came, and all below it */
    struct rtmfp_range *v;    /* in order, with a gap before each; NULL: none */
    uint16_t n, room;
};

void rtmfp_ranges_fini(struct rtmfp_ranges *r);
bool rtmfp_ranges_has(const struct rtmfp_ranges *r, uint64_t seq);
/* False: there are too many gaps, or no memory; nothing changed. */
bool rtmfp_ranges_add(struct rtmfp_ranges *r, uint64_t seq) __attribute__((warn_unused_result));
/* All up to that one count as having come. */
void rtmfp_ranges_forward(struct rtmfp_ranges *r, uint64_t upto);

#endif
