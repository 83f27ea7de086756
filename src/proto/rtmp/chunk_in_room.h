/* SPDX-License-Identifier: MIT */
/* chunk_in_room.h - memory for messages that are not complete; for chunk_in*.c only. */
#ifndef PROTO_RTMP_CHUNK_IN_ROOM_H
#define PROTO_RTMP_CHUNK_IN_ROOM_H

#include "proto/rtmp/chunk_in.h"

/* Room for the first `need` bytes of the stream's message, and for some more as far as the limits
 * allow. ERR_TOO_LARGE, ERR_NO_MEMORY. */
err_t rtmp_in_room_take(struct rtmp_in *in, struct rtmp_in_stream *s, uint32_t need)
    __attribute__((warn_unused_result));
/* The message is complete: its payload is the caller's and counts no more. NULL without one. */
uint8_t *rtmp_in_room_leave(struct rtmp_in *in, struct rtmp_in_stream *s);
/* The message, or all of them, will never be complete. */
void rtmp_in_room_drop(struct rtmp_in *in, struct rtmp_in_stream *s);
void rtmp_in_room_drop_all(struct rtmp_in *in);

#endif
