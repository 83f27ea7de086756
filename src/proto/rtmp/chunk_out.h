/* SPDX-License-Identifier: MIT */
/* chunk_out.h - writes a message as chunks [RTMP 5.3]: one fmt 0 chunk, then fmt 3 chunks. There is
 * no state between messages (each time is absolute), so the bytes can be sent to any number of
 * peers that use the same chunk size.
 */
#ifndef PROTO_RTMP_CHUNK_OUT_H
#define PROTO_RTMP_CHUNK_OUT_H

#include "base/wr.h"
#include "proto/rtmp/msg.h"

#include <stddef.h>
#include <stdint.h>

enum { RTMP_OUT_FIRST = 18, RTMP_OUT_NEXT = 7 }; /* largest headers of both kinds of chunks */

/* Returns the chunk stream on which we send this type. */
uint32_t rtmp_out_csid(uint8_t type);

/* Number of bytes that rtmp_out_render() writes for a payload of this size. */
size_t rtmp_out_size(uint32_t csid, uint32_t time, size_t payload_size, uint32_t chunk_size);
/* Writes the whole message to dst. chunk_size is 1..RTMP_CHUNK_SIZE_MAX. Returns the number of
 * bytes. */
size_t rtmp_out_render(uint8_t *dst, const struct rtmp_msg *msg, uint32_t chunk_size);
/* Same, but the first head_size of the msg->size bytes come from `head`, and msg->payload holds the
 * rest. */
size_t rtmp_out_render_parts(uint8_t *dst, const struct rtmp_msg *msg, const uint8_t *head,
                             size_t head_size, uint32_t chunk_size);

/* Same, appended to w; for small messages that are sent together. */
void rtmp_out_put(struct wr *w, const struct rtmp_msg *msg, uint32_t chunk_size);

/* Write only headers, for gathered writes: dst has RTMP_OUT_FIRST or RTMP_OUT_NEXT bytes. All
 * chunks after the first have the same header. Both return its size. */
size_t rtmp_out_first(uint8_t *dst, const struct rtmp_msg *msg);
size_t rtmp_out_next(uint8_t *dst, uint32_t csid, uint32_t time);

#endif
