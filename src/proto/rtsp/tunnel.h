/* SPDX-License-Identifier: MIT */
/* tunnel.h - RTSP inside of HTTP: by two requests, or a WebSocket. No I/O.
 *
 * By requests, as QuickTime began it: a GET is the way down, raw, and a POST with the same cookie
 * the way up, in base64, each piece of which may be padded. ONVIF has a WebSocket of its own
 * sub-protocol instead, whose messages are cut anywhere. Both ways become plain bytes here, which
 * are read (reader.h) as if they came from a connection of their own.
 */
#ifndef PROTO_RTSP_TUNNEL_H
#define PROTO_RTSP_TUNNEL_H

#include "base/wr.h"
#include "proto/http/ws.h"

enum rtsp_tunnel { RTSP_TUNNEL_NONE, RTSP_TUNNEL_DOWN, RTSP_TUNNEL_UP, RTSP_TUNNEL_WS };

enum { RTSP_COOKIE_MAX = 64 };

/* Of a request of HTTP, wherever it was read. NULL: it has no such field. */
struct rtsp_tunnel_head {
    const char *method;
    const char *cookie;   /* x-sessioncookie */
    const char *accept;   /* Accept */
    const char *type;     /* Content-Type */
    const char *upgrade;  /* Upgrade */
    const char *protocol; /* Sec-WebSocket-Protocol */
};

/* What it begins. Cookies are 1 to RTSP_COOKIE_MAX letters and signs, no spaces. */
enum rtsp_tunnel rtsp_tunnel_of(const struct rtsp_tunnel_head *h);

/* The whole answer to the GET. The POST is never answered. */
extern const char rtsp_tunnel_answer[];
#define RTSP_TUNNEL_PROTOCOL "rtsp.onvif.org"

/* ---- base64 as a stream; starts as zeros */

struct rtsp_base64 {
    uint32_t bits;
    unsigned have;
    size_t idle;    /* characters of no meaning on end */
};

/* Decode in place, all of it; *n bytes came out, which may be none. ERR_RTSP: a character that is
 * none of base64, a group of one, or nothing but spaces for ever. */
err_t rtsp_base64_feed(struct rtsp_base64 *b, uint8_t *data, size_t size, size_t *n)
    __attribute__((warn_unused_result));

/* ---- frames of a WebSocket */

struct rtsp_ws {
    struct http_ws_in in;
    bool closed;     /* the peer said that it leaves */
    uint8_t control[HTTP_WS_CONTROL_MAX];
    size_t control_size;
};

void rtsp_ws_init(struct rtsp_ws *ws, bool from_client, uint64_t max_frame);
/* Unwrap in place: *n bytes of messages came out. What is to be answered (pongs, the close) is
 * written to `reply`, as a server does. Behind a close nothing is read. ERR_HTTP, ERR_TOO_LARGE;
 * ERR_RTSP: a message that is text. */
err_t rtsp_ws_feed(struct rtsp_ws *ws, uint8_t *data, size_t size, size_t *n, struct wr *reply)
    __attribute__((warn_unused_result));

#endif
