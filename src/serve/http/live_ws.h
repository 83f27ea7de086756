/* SPDX-License-Identifier: MIT */
/* live_ws.h - a player's side of a WebSocket; for the files of serve/http_live* alone. */
#ifndef SERVE_HTTP_LIVE_WS_H
#define SERVE_HTTP_LIVE_WS_H

#include "proto/http/ws.h"
#include "serve/http/http.h"

struct http_live_ws {
    struct http_ws_in in;
    char accept[HTTP_WS_KEY_SIZE];
    char protocol[64]; /* "": none was asked for */
    uint8_t control[HTTP_WS_CONTROL_MAX];
    size_t control_size;
};

/* RFC 6455 4.2.1; to be freed. NULL: the request is not right. */
struct http_live_ws *http_live_ws_open(const struct http_request *req);
/* 426 with the version that we speak. */
err_t http_live_ws_refuse(struct http_response *r) __attribute__((warn_unused_result));
/* Fields of the answer with 101. */
void http_live_ws_fields(const struct http_live_ws *ws, struct http_response *r);
/* What the player said: pings are answered, *done is set when it says that it leaves. The bytes
 * are changed. Yields. */
err_t http_live_ws_input(struct http_live_ws *ws, struct io *io, uint8_t *data, size_t size,
                         bool *done) __attribute__((warn_unused_result));

#endif
