/* SPDX-License-Identifier: MIT */
/* command.h - parses received commands and data messages [RTMP 7.2], types 20, 17, 18, 15.
 *
 * A command is a name, a transaction number and arguments. The first argument is the "command
 * object", which is null in most commands. Trailing arguments may be missing.
 */
#ifndef PROTO_RTMP_COMMAND_H
#define PROTO_RTMP_COMMAND_H

#include "base/err.h"
#include "base/wr.h"
#include "proto/rtmp/amf0.h"
#include "proto/rtmp/msg.h"

#include <stdbool.h>

enum rtmp_command_id {
    RTMP_CMD_UNKNOWN,
    RTMP_CMD_CONNECT, RTMP_CMD_CREATE_STREAM, RTMP_CMD_CLOSE_STREAM, RTMP_CMD_DELETE_STREAM,
    RTMP_CMD_RELEASE_STREAM, RTMP_CMD_FC_PUBLISH, RTMP_CMD_FC_UNPUBLISH, RTMP_CMD_FC_SUBSCRIBE,
    RTMP_CMD_PUBLISH, RTMP_CMD_PLAY, RTMP_CMD_PLAY2, RTMP_CMD_PAUSE, RTMP_CMD_SEEK,
    RTMP_CMD_RECEIVE_AUDIO, RTMP_CMD_RECEIVE_VIDEO, RTMP_CMD_GET_STREAM_LENGTH,
    RTMP_CMD_SET_PEER_INFO, /* over RTMFP */
    RTMP_CMD_CHECK_BW,      /* _checkbw */
    RTMP_CMD_ON_STATUS, RTMP_CMD_ON_BW_DONE, RTMP_CMD_ON_FC_PUBLISH, RTMP_CMD_ON_FC_UNPUBLISH,
    RTMP_CMD_RESULT, RTMP_CMD_ERROR, /* _result, _error */
};

enum { RTMP_COMMAND_ARGS = 8 };

struct rtmp_command {
    enum rtmp_command_id id;
    const char *name;
    double transaction; /* 0: no response is expected */
    int count;          /* values in args */
    struct amf_value args[RTMP_COMMAND_ARGS]; /* args[0] is the command object */
    struct amf amf;     /* memory of all values */
};

/* Parses types 20 and 17. ERR_TRUNCATED, ERR_AMF0 and the limits of amf0.h; on error there is
 * nothing to free. Arguments beyond RTMP_COMMAND_ARGS are not read. */
err_t rtmp_command_parse(struct rtmp_command *out, const struct rtmp_msg *msg)
    __attribute__((warn_unused_result));
void rtmp_command_free(struct rtmp_command *c); /* works on a zeroed struct */

/* Return argument i, or `otherwise` if it is missing or has another type. */
const char *rtmp_command_string(const struct rtmp_command *c, int i, const char *otherwise);
double rtmp_command_number(const struct rtmp_command *c, int i, double otherwise);
bool rtmp_command_boolean(const struct rtmp_command *c, int i, bool otherwise);

/* Arguments of connect [RTMP 7.2.1.1]. The command owns the strings; none is NULL. */
struct rtmp_connect {
    const char *tc_url, *app, *page_url, *swf_url, *flash_ver;
    double object_encoding;
    bool enhanced;      /* the client sent FourCCs or capsEx [E-RTMP] */
    bool opus;          /* the client takes Opus: it lists it, or it forwards all codecs, like an
                         * edge of SRS */
    uint32_t caps_ex;   /* enum rtmp_caps */
    const struct amf_value *object; /* the command object */
    const struct amf_value *extra;  /* the object after it ("srs_id" of an edge), or NULL */
};

enum { /* [E-RTMP v2], values in videoFourCcInfoMap and audioFourCcInfoMap */
    RTMP_FOURCC_CAN_DECODE = 1, RTMP_FOURCC_CAN_ENCODE = 2, RTMP_FOURCC_CAN_FORWARD = 4,
};

enum rtmp_caps { /* [E-RTMP v2], capsEx */
    RTMP_CAPS_RECONNECT = 1, RTMP_CAPS_MULTITRACK = 2, RTMP_CAPS_MODEX = 4, RTMP_CAPS_NANO = 8,
};

/* ERR_RTMP_CONNECT when the object or its tcUrl is missing. */
err_t rtmp_connect_parse(struct rtmp_connect *out, const struct rtmp_command *c)
    __attribute__((warn_unused_result));

/* Arguments of play [RTMP 7.2.2.1]. The specification says seconds, but Flash, FFmpeg and librtmp
 * send milliseconds, also for negative values: -2000 for -2. */
struct rtmp_play {
    const char *name;
    double start;    /* < 0: live or else recorded (-2), live only (-1) */
    double duration; /* < 0: all; 0: one frame */
    bool reset;
};
void rtmp_play_parse(struct rtmp_play *out, const struct rtmp_command *c);

/* ---- user control events and the other messages that consist of a number [RTMP 5.4, 7.1.7] */

enum rtmp_event_id {
    RTMP_STREAM_BEGIN = 0,
    RTMP_STREAM_EOF = 1,
    RTMP_STREAM_DRY = 2,
    RTMP_SET_BUFFER_LENGTH = 3, /* buffer of a stream, `more` milliseconds */
    RTMP_STREAM_IS_RECORDED = 4,
    RTMP_PING_REQUEST = 6,
    RTMP_PING_RESPONSE = 7,
    RTMP_BUFFER_EMPTY = 31,
    RTMP_BUFFER_READY = 32,
};

struct rtmp_event {
    uint16_t id;    /* enum rtmp_event_id, or any other value the peer sent */
    uint32_t value; /* stream id, or time of a ping */
    uint32_t more;  /* only in RTMP_SET_BUFFER_LENGTH */
};

/* ERR_RTMP_MSG_SIZE when the message is too short for its kind. */
err_t rtmp_event_parse(struct rtmp_event *out, const struct rtmp_msg *msg)
    __attribute__((warn_unused_result));

enum rtmp_limit { RTMP_LIMIT_HARD = 0, RTMP_LIMIT_SOFT = 1, RTMP_LIMIT_DYNAMIC = 2 };

#endif
