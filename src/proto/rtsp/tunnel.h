/* SPDX-License-Identifier: MIT */
/* tunnel.h - RTSP inside HTTP: over two requests, or over a WebSocket. No I/O.
 *
 * With two requests, as introduced by QuickTime, a GET carries the server's bytes, raw, and a POST
 * with the same cookie carries the client's bytes in base64, in pieces that may each be padded.
 * ONVIF uses a WebSocket with its own sub-protocol, whose messages may be cut anywhere. Here both
 * become plain bytes, which the reader (reader.h) reads like those of a separate connection.
 */
#ifndef PROTO_RTSP_TUNNEL_H
#define PROTO_RTSP_TUNNEL_H

#include "base/wr.h"
#include "proto/http/ws.h"

enum rtsp_tunnel { RTSP_TUNNEL_NONE, RTSP_TUNNEL_DOWN, RTSP_TUNNEL_UP, RTSP_TUNNEL_WS };

enum { RTSP_COOKIE_MAX = 64 };

/* Fields of an HTTP request; NULL if missing. */
struct rtsp_tunnel_head {
    const char *method;
    const char *cookie;   /* x-sessioncookie */
    const char *accept;   /* Accept */
    const char *type;     /* Content-Type */
    const char *upgrade;  /* Upgrade */
    const char *protocol; /* Sec-WebSocket-Protocol */
};

/* Returns the kind of tunnel that the request starts. A cookie has 1 to RTSP_COOKIE_MAX printable
 * characters without spaces. */
enum rtsp_tunnel rtsp_tunnel_of(const struct rtsp_tunnel_head *h);

/* Complete response to the GET. The POST gets no response. */
extern const char rtsp_tunnel_answer[];
#define RTSP_TUNNEL_PROTOCOL "rtsp.onvif.org"

/* ---- streaming base64 decoder; zeroed at start */

struct rtsp_base64 {
    uint32_t bits;
    unsigned have;
    size_t idle;    /* consecutive characters without content */
};

/* Decodes all bytes in place; *n is the size of the result, which may be 0. ERR_RTSP: a character
 * that is not base64, a group of one character, or too many characters without content. */
err_t rtsp_base64_feed(struct rtsp_base64 *b, uint8_t *data, size_t size, size_t *n)
    __attribute__((warn_unused_result));

/* ---- WebSocket frames */

struct rtsp_ws {
    struct http_ws_in in;
    bool closed;     /* the peer sent a close frame */
    uint8_t control[HTTP_WS_CONTROL_MAX];
    size_t control_size;
};

void rtsp_ws_init(struct rtsp_ws *ws, bool from_client, uint64_t max_frame);
/* Unwraps frames in place; *n is the size of the result. Writes the server's responses (pongs, the
 * close) to `reply`. Ignores all bytes after a close. ERR_HTTP, ERR_TOO_LARGE; ERR_RTSP for a text
 * message. */
err_t rtsp_ws_feed(struct rtsp_ws *ws, uint8_t *data, size_t size, size_t *n, struct wr *reply)
    __attribute__((warn_unused_result));

#endif
