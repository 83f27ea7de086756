/* SPDX-License-Identifier: MIT */
/* msg.h - an RTMP message, and the numbers in its header [RTMP 5.4, 7.1]. */
#ifndef PROTO_RTMP_MSG_H
#define PROTO_RTMP_MSG_H

#include <stdint.h>

enum rtmp_type {
    RTMP_SET_CHUNK_SIZE = 1,
    RTMP_ABORT = 2,
    RTMP_ACK = 3,
    RTMP_USER_CONTROL = 4,
    RTMP_WINDOW_ACK_SIZE = 5,
    RTMP_SET_PEER_BANDWIDTH = 6,
    RTMP_AUDIO = 8,
    RTMP_VIDEO = 9,
    RTMP_DATA_AMF3 = 15,
    RTMP_SHARED_OBJECT_AMF3 = 16,
    RTMP_COMMAND_AMF3 = 17,
    RTMP_DATA = 18,
    RTMP_SHARED_OBJECT = 19,
    RTMP_COMMAND = 20,
    RTMP_AGGREGATE = 22,
};

/* Chunk streams that we send on; peers choose their own. */
enum rtmp_csid {
    RTMP_CSID_CONTROL = 2,
    RTMP_CSID_COMMAND = 3, /* commands of the connection */
    RTMP_CSID_DATA = 4,
    RTMP_CSID_STREAM = 5, /* commands of one stream: onStatus, publish, play */
    RTMP_CSID_VIDEO = 6,
    RTMP_CSID_AUDIO = 7,
};

enum {
    RTMP_CHUNK_SIZE = 128, /* default of both directions */
    RTMP_CHUNK_SIZE_MAX = 0xffffff,
    RTMP_CSID_MIN = 2,
    RTMP_CSID_MAX = 65599,
};

struct rtmp_msg {
    uint8_t type; /* enum rtmp_type, or any other value the peer sent */
    uint32_t csid;
    uint32_t stream_id;
    uint32_t time; /* absolute, milliseconds, wraps */
    uint32_t size;
    uint8_t *payload; /* size bytes; the function that returns the message documents who owns it */
};

#endif
