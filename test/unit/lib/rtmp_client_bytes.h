/* SPDX-License-Identifier: MIT */
/* rtmp_client_bytes.h - builds the bytes that an RTMP client sends: for tests over a memory io. */
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

/* Appends a command: name, transaction, null, and a string unless NULL. */
void client_call(struct wr *out, uint32_t stream_id, const char *name, double transaction,
                 const char *arg);

void client_publish(struct wr *out, const char *stream);
void client_media(struct wr *out);

#endif
