/* SPDX-License-Identifier: MIT */
/* live.h - live streams over HTTP and WebSocket: http_remux.
 *
 * The body has no length and no chunks: it ends with the connection. So its bytes are those of a
 * wire and the same for all, and a player costs what an RTMP player costs. What can be played is a
 * row of http_live_kinds: an ending of the path, a type, and the wire.
 */
#ifndef SERVE_HTTP_LIVE_H
#define SERVE_HTTP_LIVE_H

#include "live/consumer.h"
#include "serve/http/http.h"
#include "session/clients.h"

enum { HTTP_LIVE_HEAD_MAX = 4096 };

/* What a player was promised, or would be. */
struct http_live_promise {
    bool audio, video;
    bool drop;  /* what was not promised is left out */
    bool no_opus; /* the player's demuxer fails on Opus in FLV */
};

struct http_live_kind {
    const char *end, *type;       /* ".flv", "video/x-flv" */
    enum clients_type client;     /* its players in the list of clients */
    const struct live_format *wire;
    const struct live_format *ws; /* over WebSocket; NULL: not there */
    bool promises;                /* its head says what will come: wait to know */
    bool waits;                   /* wait to know, but what comes later is sent, too */
    const char *beside;           /* a mount that ends so serves it, too, under its own ending,
                                   * while the stream is on air; NULL: none does */
    /* The wire's parameters. NULL: all 0. */
    void (*params)(const struct http_live_promise *p, uint32_t param[LIVE_PARAMS]);
    /* Bytes before those of the wire, at most HTTP_LIVE_HEAD_MAX; gives how many. NULL: none. */
    size_t (*head)(const struct http_live_promise *p, uint8_t *out);
};

extern const struct http_live_kind *const http_live_kinds[]; /* NULL at the end */

/* Mount them all. The handler declines what is no live stream of http_remux. */
void http_live_mount(struct http_mux *mux);

/* Take a path apart by a mount like "[vhost]/[app]/[stream].flv": app and stream are pieces of the
 * path; app is NULL where the mount has none. False: it does not fit. `host` is what the client
 * asked for. */
struct http_live_name {
    const char *app, *stream;
    size_t app_size, stream_size;
};
bool http_live_match(const char *mount, const char *host, const char *path,
                     struct http_live_name *out);

#endif
