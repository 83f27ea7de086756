/* SPDX-License-Identifier: MIT */
/* chunk_out.h - from a message to its chunks [RTMP 5.3]: one fmt 0 chunk, then fmt 3 chunks.
 *
 * Nothing is remembered between messages (every time is absolute), so what is made once can be
 * sent to any number of peers that were told the same chunk size.
 */
#ifndef PROTO_RTMP_CHUNK_OUT_H
#define PROTO_RTMP_CHUNK_OUT_H

#include "base/wr.h"
#include "proto/rtmp/msg.h"

#include <stddef.h>
#include <stdint.h>

enum { RTMP_OUT_FIRST = 18, RTMP_OUT_NEXT = 7 }; /* largest headers of both kinds of chunks */

/* The chunk stream that we send this type on. */
uint32_t rtmp_out_csid(uint8_t type);

/* Bytes that rtmp_out_render() will write for a payload of this size. */
size_t rtmp_out_size(uint32_t csid, uint32_t time, size_t payload_size, uint32_t chunk_size);
/* The whole message at dst. chunk_size is 1..RTMP_CHUNK_SIZE_MAX. Returns the bytes written. */
size_t rtmp_out_render(uint8_t *dst, const struct rtmp_msg *msg, uint32_t chunk_size);
/* The same where the first head_size of msg->size bytes are those of `head`, and the payload is
 * what follows them. */
size_t rtmp_out_render_parts(uint8_t *dst, const struct rtmp_msg *msg, const uint8_t *head,
                             size_t head_size, uint32_t chunk_size);

/* The same appended to w; for small messages that go out together. */
void rtmp_out_put(struct wr *w, const struct rtmp_msg *msg, uint32_t chunk_size);

/* Headers alone, for gathered writes: dst has RTMP_OUT_FIRST or RTMP_OUT_NEXT bytes. All chunks
 * after the first have the same header. Both return its size. */
size_t rtmp_out_first(uint8_t *dst, const struct rtmp_msg *msg);
size_t rtmp_out_next(uint8_t *dst, uint32_t csid, uint32_t time);

#endif
