/* SPDX-License-Identifier: MIT */
/* rtmp_client_bytes.h - what a client sends, as bytes in memory: for tests over a pipe of memory. */
#ifndef RTMP_CLIENT_BYTES_H
#define RTMP_CLIENT_BYTES_H

#include "proto/rtmp/amf0.h"
#include "proto/rtmp/chunk_out.h"

#include <string.h>

enum { CLIENT_CHUNK = 128, HANDSHAKE_SIZE = 1 + 1536 + 1536 };

void client_handshake(struct wr *out);
void client_message(struct wr *out, uint8_t type, uint32_t stream_id, uint32_t ms,
                    const void *payload, size_t size);
void client_command(struct wr *out, uint32_t stream_id, struct wr *body);
void client_connect(struct wr *out, const char *tc_url);

/* name, transaction, null, and a string if there is one. */
void client_call(struct wr *out, uint32_t stream_id, const char *name, double transaction,
                 const char *arg);

void client_publish(struct wr *out, const char *stream);
void client_media(struct wr *out);

#endif
