/* SPDX-License-Identifier: MIT */
/* control.h - user control events and the other messages that are a number [RTMP 5.4, 7.1.7]. */
#ifndef RTMP_CONTROL_H
#define RTMP_CONTROL_H

#include "base/err.h"
#include "base/wr.h"
#include "proto/rtmp/msg.h"

enum rtmp_event_id {
    RTMP_STREAM_BEGIN = 0,
    RTMP_STREAM_EOF = 1,
    RTMP_STREAM_DRY = 2,
    RTMP_SET_BUFFER_LENGTH = 3, /* of stream, `more` milliseconds */
    RTMP_STREAM_IS_RECORDED = 4,
    RTMP_PING_REQUEST = 6,
    RTMP_PING_RESPONSE = 7,
    RTMP_BUFFER_EMPTY = 31,
    RTMP_BUFFER_READY = 32,
};

struct rtmp_event {
    uint16_t id;    /* enum rtmp_event_id, or what the peer sent */
    uint32_t value; /* a stream id, or the time of a ping */
    uint32_t more;  /* of RTMP_SET_BUFFER_LENGTH */
};

/* ERR_RTMP_MSG_SIZE when it is too short for its kind. */
err_t rtmp_event_parse(struct rtmp_event *out, const struct rtmp_msg *msg)
    __attribute__((warn_unused_result));

enum rtmp_limit { RTMP_LIMIT_HARD = 0, RTMP_LIMIT_SOFT = 1, RTMP_LIMIT_DYNAMIC = 2 };

#endif
