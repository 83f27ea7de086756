/* SPDX-License-Identifier: MIT */
/* live_ws.c - a player's side of a WebSocket. */
#include "serve/http/live_ws.h"

#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SAID = 64 * 1024 };

struct http_live_ws *http_live_ws_open(const struct http_request *req)
{
    struct http_live_ws *ws;
    const char *key = http_request_field(req, "Sec-WebSocket-Key");
    const char *version = http_request_field(req, "Sec-WebSocket-Version");
    const char *protocol = http_request_field(req, "Sec-WebSocket-Protocol");

    if (!key || !version || strcmp(version, "13") != 0 ||
        !http_request_has(req, "Connection", "Upgrade"))
        return NULL;
    ws = must(calloc(1, sizeof(*ws)));
    if (!http_ws_accept(key, ws->accept)) {
        free(ws);
        return NULL;
    }
    if (protocol) /* a client that names some wants one of them */
        (void)snprintf(ws->protocol, sizeof(ws->protocol), "%.*s",
                       (int)strcspn(protocol, ", "), protocol);
    http_ws_in_init(&ws->in, true, MOST_SAID);
    return ws;
}

err_t http_live_ws_refuse(struct http_response *r)
{
    http_response_add(r, "Upgrade", "websocket");
    http_response_add(r, "Sec-WebSocket-Version", "13");
    return http_response_status(r, 426);
}

void http_live_ws_fields(const struct http_live_ws *ws, struct http_response *r)
{
    http_response_add(r, "Upgrade", "websocket");
    http_response_add(r, "Connection", "Upgrade");
    http_response_add(r, "Sec-WebSocket-Accept", "%s", ws->accept);
    if (ws->protocol[0])
        http_response_add(r, "Sec-WebSocket-Protocol", "%s", ws->protocol);
}

struct ws_input {
    struct http_live_ws *ws;
    struct io *io;
    bool *done;
};

static err_t reply(struct ws_input *h, enum http_ws_op op)
{
    uint8_t head[HTTP_WS_HEAD_MAX];
    struct iovec iov[2] = {
        { head, http_ws_head(head, op, h->ws->control_size, NULL) },
        { h->ws->control, h->ws->control_size },
    };

    return io_writev(h->io, iov, 2);
}

static err_t on_payload(void *arg, const struct http_ws_in *in, const uint8_t *data, size_t size,
                        bool end)
{
    struct ws_input *h = arg;
    struct http_live_ws *ws = h->ws;

    if (in->op != HTTP_WS_PING && in->op != HTTP_WS_CLOSE)
        return NULL; /* a player has nothing to say */
    if (in->at == size)
        ws->control_size = 0;
    if (size)
        memcpy(ws->control + ws->control_size, data, size);
    ws->control_size += size;
    if (!end || *h->done)
        return NULL;
    if (in->op == HTTP_WS_CLOSE)
        *h->done = true;
    return reply(h, in->op == HTTP_WS_PING ? HTTP_WS_PONG : HTTP_WS_CLOSE);
}

err_t http_live_ws_input(struct http_live_ws *ws, struct io *io, uint8_t *data, size_t size,
                         bool *done)
{
    static const struct http_ws_handler handler = { on_payload };
    struct ws_input h = { ws, io, done };

    return http_ws_feed(&ws->in, data, size, &handler, &h);
}
