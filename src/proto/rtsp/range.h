/* SPDX-License-Identifier: MIT */
/* range.h - the fields Range, Scale and Speed (RFC 2326 sections 3.5 to 3.7, 12.29, 12.34, 12.35).
 */
#ifndef PROTO_RTSP_RANGE_H
#define PROTO_RTSP_RANGE_H

#include "base/wr.h"

#include <stdbool.h>
#include <stdint.h>

enum rtsp_range_unit {
    RTSP_RANGE_NPT,
    RTSP_RANGE_SMPTE, RTSP_RANGE_CLOCK, /* recognized, but not parsed: answered with 457 */
};

enum { RTSP_RANGE_OPEN = -1, RTSP_RANGE_NOW = -2 };

struct rtsp_range {
    enum rtsp_range_unit unit;
    int64_t begin; /* microseconds, RTSP_RANGE_NOW, or RTSP_RANGE_OPEN: the range is the last `end`
                    * of the media */
    int64_t end;   /* microseconds, or RTSP_RANGE_OPEN */
};

/* Parses "npt=10.5-20", "npt=now-", "npt=0:01:30-", "npt=-20". Returns false for other forms, if
 * the range begins after its end, or for a time of over ten years. */
bool rtsp_range_parse(const char *text, struct rtsp_range *out);
/* Writes "npt=9.960-200.000", with milliseconds. */
void rtsp_range_put(struct wr *w, const struct rtsp_range *range);

/* Parses Scale and Speed, in thousandths: "1.5" is 1500, "-2" is -2000. Returns false for anything
 * else and for values over 1000. */
bool rtsp_rate_parse(const char *text, int *out);
void rtsp_rate_put(struct wr *w, int rate);

#endif
