/* SPDX-License-Identifier: MIT */
/* ws.h - WebSocket: the handshake's answer and frames, both ways: RFC 6455. No I/O. */
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

/* Sec-WebSocket-Accept for a Sec-WebSocket-Key (4.2.2). False: that is no key. */
bool http_ws_accept(const char *key, char out[HTTP_WS_KEY_SIZE]);

/* The bytes before a payload of that size: whole messages in one frame (5.2). `mask` is NULL at a
 * server. Gives how many: http_ws_head_size(). */
size_t http_ws_head(uint8_t out[HTTP_WS_HEAD_MAX], enum http_ws_op op, uint64_t size,
                    const uint8_t mask[4]);
size_t http_ws_head_size(uint64_t size, bool masked);
/* Mask or unmask in place; `at`: how much of the frame was before. */
void   http_ws_mask(uint8_t *p, size_t size, const uint8_t mask[4], uint64_t at);

/* Frames of the peer, fed in any pieces. Payload is unmasked and given as it comes. */
struct http_ws_in {
    bool from_client;    /* its frames must be masked; a server's must not (5.1) */
    uint64_t max_size;   /* of one frame */
    uint8_t head[HTTP_WS_HEAD_MAX], head_size;
    bool in_payload, fragmented; /* a message of several frames is under way */
    bool fin;
    uint8_t op;
    uint8_t mask[4];
    uint64_t size, at;   /* of this frame's payload */
};

struct http_ws_handler {
    /* Some payload of a frame, once with size 0 for an empty one; `end`: the frame's last. */
    err_t (*payload)(void *arg, const struct http_ws_in *in, const uint8_t *data, size_t size,
                     bool end);
};

void  http_ws_in_init(struct http_ws_in *in, bool from_client, uint64_t max_size);
/* ERR_HTTP: what no peer may send (reserved bits or codes, wrong masking, fragmented or large
 * control frames, a wrong order of fragments); ERR_TOO_LARGE. `data` is changed. */
err_t http_ws_feed(struct http_ws_in *in, uint8_t *data, size_t size,
                   const struct http_ws_handler *h, void *arg) __attribute__((warn_unused_result));

#endif
