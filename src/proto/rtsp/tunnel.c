/* SPDX-License-Identifier: MIT */
/* tunnel.c - RTSP inside HTTP: over two requests, or over a WebSocket. */
#include "proto/rtsp/tunnel.h"

#include "base/base64.h"
#include "base/text.h"

#include <string.h>
#include <strings.h>

enum { IDLE_MOST = 4096 };

const char rtsp_tunnel_answer[] = "HTTP/1.0 200 OK\r\n"
                                  "Connection: close\r\n"
                                  "Cache-Control: no-store\r\n"
                                  "Pragma: no-cache\r\n"
                                  "Content-Type: application/x-rtsp-tunnelled\r\n\r\n";

/* Returns whether the list contains the word. A missing list contains all words. */
static bool has(const char *list, const char *word)
{
    return !list || text_list_has(list, word);
}

static bool is_cookie(const char *cookie)
{
    size_t n = cookie ? strlen(cookie) : 0;

    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)cookie[i] <= ' ' || (unsigned char)cookie[i] >= 0x7f)
            return false;
    }
    return n > 0 && n <= RTSP_COOKIE_MAX;
}

enum rtsp_tunnel rtsp_tunnel_of(const struct rtsp_tunnel_head *h)
{
    static const char type[] = "application/x-rtsp-tunnelled";
    bool get = strcmp(h->method, "GET") == 0;

    if (get && h->upgrade && has(h->upgrade, "websocket") && h->protocol &&
        has(h->protocol, RTSP_TUNNEL_PROTOCOL))
        return RTSP_TUNNEL_WS;
    if (!is_cookie(h->cookie))
        return RTSP_TUNNEL_NONE;
    if (get)
        return has(h->accept, type) || has(h->accept, "*/*") ? RTSP_TUNNEL_DOWN : RTSP_TUNNEL_NONE;
    return strcmp(h->method, "POST") == 0 && has(h->type, type) ? RTSP_TUNNEL_UP
                                                                 : RTSP_TUNNEL_NONE;
}

/* ---- base64 */

/* Handles padding and white space. Padding ends a group; any character after it starts a new
 * one. */
static err_t skip(struct rtsp_base64 *b, uint8_t c)
{
    if (c == '=') {
        if (b->have == 6)
            return err_new(ERR_RTSP, "base64 group of one character");
        b->have = 0;
    } else if (c != '\r' && c != '\n' && c != ' ' && c != '\t') {
        return err_new(ERR_RTSP, "byte 0x%02x is not base64", c);
    }
    if (++b->idle > IDLE_MOST)
        return err_new(ERR_RTSP, "over %d base64 characters without content", IDLE_MOST);
    return NULL;
}

err_t rtsp_base64_feed(struct rtsp_base64 *b, uint8_t *data, size_t size, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < size; i++) {
        int v = base64_digit((char)data[i]);

        if (v < 0) {
            err_t err = skip(b, data[i]);

            if (err)
                return err;
            continue;
        }
        b->idle = 0;
        b->bits = (b->bits << 6 | (uint32_t)v) & 0xffff;
        b->have += 6;
        if (b->have >= 8) {
            b->have -= 8;
            data[(*n)++] = (uint8_t)(b->bits >> b->have); /* never overtakes the bytes that are
                                                           * read */
        }
    }
    return NULL;
}

/* ---- WebSocket */

struct unwrap {
    struct rtsp_ws *ws;
    uint8_t *out;
    size_t n;
    struct wr *reply;
};

void rtsp_ws_init(struct rtsp_ws *ws, bool from_client, uint64_t max_frame)
{
    ws->closed = false;
    ws->control_size = 0;
    http_ws_in_init(&ws->in, from_client, max_frame);
}

/* RFC 6455 5.5: responds to a ping with a pong of the same bytes, and to a close with a close. */
static void answer(struct unwrap *u, enum http_ws_op op)
{
    uint8_t head[HTTP_WS_HEAD_MAX];

    wr_bytes(u->reply, head, http_ws_head(head, op, u->ws->control_size, NULL));
    wr_bytes(u->reply, u->ws->control, u->ws->control_size);
}

static err_t on_control(struct unwrap *u, uint8_t op, const uint8_t *data, size_t size, bool end)
{
    struct rtsp_ws *ws = u->ws;

    if (size > 0)
        memcpy(ws->control + ws->control_size, data, size);
    ws->control_size += size;
    if (!end)
        return NULL;
    if (op == HTTP_WS_PING)
        answer(u, HTTP_WS_PONG);
    ws->closed = op == HTTP_WS_CLOSE;
    if (ws->closed)
        answer(u, HTTP_WS_CLOSE);
    ws->control_size = 0;
    return NULL;
}

static err_t on_payload(void *arg, const struct http_ws_in *in, const uint8_t *data, size_t size,
                        bool end)
{
    struct unwrap *u = arg;

    if (u->ws->closed)
        return NULL;
    if (in->op >= HTTP_WS_CLOSE)
        return on_control(u, in->op, data, size, end);
    if (in->op == HTTP_WS_TEXT)
        return err_new(ERR_RTSP, "text message instead of binary");
    memmove(u->out + u->n, data, size);
    u->n += size;
    return NULL;
}

err_t rtsp_ws_feed(struct rtsp_ws *ws, uint8_t *data, size_t size, size_t *n, struct wr *reply)
{
    static const struct http_ws_handler handler = { on_payload };
    struct unwrap u = { .ws = ws, .out = data, .reply = reply };
    err_t err = http_ws_feed(&ws->in, data, size, &handler, &u);

    *n = u.n;
    return err;
}
