/* SPDX-License-Identifier: MIT */
/* ws.h - WebSocket: the handshake's response, and frames in both directions (RFC 6455). No I/O. */
#ifndef PROTO_HTTP_WS_H
#define PROTO_HTTP_WS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { HTTP_WS_KEY_SIZE = 29, HTTP_WS_HEAD_MAX = 14, HTTP_WS_CONTROL_MAX = 125 };

enum http_ws_op {
    HTTP_WS_CONTINUE = 0, HTTP_WS_TEXT = 1, HTTP_WS_BINARY = 2,
    HTTP_WS_CLOSE = 8, HTTP_WS_PING = 9, HTTP_WS_PONG = 10,
};

/* Computes Sec-WebSocket-Accept for a Sec-WebSocket-Key (4.2.2). Returns false for an invalid
 * key. */
bool http_ws_accept(const char *key, char out[HTTP_WS_KEY_SIZE]);

/* Writes the head of a frame with a whole message of this size (5.2). `mask` is NULL on a server.
 * Returns the size of the head, which is http_ws_head_size(). */
size_t http_ws_head(uint8_t out[HTTP_WS_HEAD_MAX], enum http_ws_op op, uint64_t size,
                    const uint8_t mask[4]);
size_t http_ws_head_size(uint64_t size, bool masked);
/* Masks or unmasks in place; `at` is the offset in the frame. */
void   http_ws_mask(uint8_t *p, size_t size, const uint8_t mask[4], uint64_t at);

/* Parser for a peer's frames, fed in pieces of any size. Payload is unmasked and delivered as it
 * comes. */
struct http_ws_in {
    bool from_client;    /* a client's frames must be masked, a server's must not (5.1) */
    uint64_t max_size;   /* limit of one frame */
    uint8_t head[HTTP_WS_HEAD_MAX], head_size;
    bool in_payload, fragmented; /* inside a message of several frames */
    bool fin;
    uint8_t op;
    uint8_t mask[4];
    uint64_t size, at;   /* size of this payload; offset reached in it */
};

struct http_ws_handler {
    /* Called with some payload of a frame, or once with size 0 for an empty one; `end` marks the
     * frame's last part. */
    err_t (*payload)(void *arg, const struct http_ws_in *in, const uint8_t *data, size_t size,
                     bool end);
};

void  http_ws_in_init(struct http_ws_in *in, bool from_client, uint64_t max_size);
/* Parses frames. ERR_HTTP for a protocol violation (reserved bits or opcodes, wrong masking,
 * fragmented or large control frames, fragments out of order); ERR_TOO_LARGE. Modifies `data`. */
err_t http_ws_feed(struct http_ws_in *in, uint8_t *data, size_t size,
                   const struct http_ws_handler *h, void *arg) __attribute__((warn_unused_result));

#endif
