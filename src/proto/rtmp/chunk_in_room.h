/* SPDX-License-Identifier: MIT */
/* chunk_in_room.h - memory for incomplete messages; only for chunk_in*.c. */
#ifndef PROTO_RTMP_CHUNK_IN_ROOM_H
#define PROTO_RTMP_CHUNK_IN_ROOM_H

#include "proto/rtmp/chunk_in.h"

/* Makes room for the first `need` bytes of the stream's message, and for some more within the
 * limits. ERR_TOO_LARGE, ERR_NO_MEMORY. */
err_t rtmp_in_room_take(struct rtmp_in *in, struct rtmp_in_stream *s, uint32_t need)
    __attribute__((warn_unused_result));
/* Hands the payload of a complete message to the caller; it no longer counts. Returns NULL if there
 * is none. */
uint8_t *rtmp_in_room_give(struct rtmp_in *in, struct rtmp_in_stream *s);
/* Drops the incomplete message of one chunk stream, or of all. */
void rtmp_in_room_drop(struct rtmp_in *in, struct rtmp_in_stream *s);
void rtmp_in_room_drop_all(struct rtmp_in *in);

#endif
