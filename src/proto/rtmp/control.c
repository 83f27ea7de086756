/* SPDX-License-Identifier: MIT */
/* control.c - user control events and the other messages that are a number [RTMP 5.4, 7.1.7]. */
#include "proto/rtmp/control.h"

#include "base/rd.h"

enum { FMS_EVENT_26 = 26 }; /* of one byte; Flash servers send it */

err_t rtmp_event_parse(struct rtmp_event *out, const struct rtmp_msg *msg)
{
    struct rd r = rd_init(msg->payload, msg->size);

    *out = (struct rtmp_event){ .id = rd_u16(&r) };
    if (out->id == FMS_EVENT_26)
        out->value = rd_u8(&r);
    else
        out->value = rd_u32(&r);
    if (out->id == RTMP_SET_BUFFER_LENGTH)
        out->more = rd_u32(&r);
    if (r.bad && out->id > RTMP_PING_RESPONSE) /* of whatever kind: not ours to judge */
        return NULL;
    return r.bad ? err_new(ERR_RTMP_MSG_SIZE, "event %u of %u bytes", out->id, msg->size) : NULL;
}
