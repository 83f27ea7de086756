/* SPDX-License-Identifier: MIT */
/* rtc_line.h - a connected WebRTC session whose socket hands all datagrams to the test at once. */
#ifndef RTC_LINE_H
#define RTC_LINE_H

#include "serve/rtc/impl.h"
#include "udp_hand.h"
#include "unit.h"

struct rtc_line_ops {
    /* RTP packets sent in one call, `segment` bytes each, the last may be shorter. */
    void (*rtp)(struct rtc_peer *p, const uint8_t *data, size_t size, size_t segment);
    void (*rtcp)(struct rtc_peer *p, const uint8_t *data, size_t size);
};

struct rtc_line {
    struct rtc_peer *peer;
    const struct rtc_line_ops *ops;
};

/* From now on, while the line exists; the session's keys, or `clear`, are the test's. */
void rtc_line_connect(struct rtc_line *l, struct rtc_peer *p, const struct rtc_line_ops *ops);

#endif
