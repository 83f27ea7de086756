/* SPDX-License-Identifier: MIT */
/* live.h - live streams over HTTP and WebSocket (http_remux).
 *
 * The body has neither length nor chunks: it ends with the connection. All players share the bytes
 * of a wire, so a player costs as much as an RTMP player. Each format is a row of http_live_kinds:
 * extension, content type and wire.
 */
#ifndef SERVE_HTTP_LIVE_H
#define SERVE_HTTP_LIVE_H

#include "live/consumer.h"
#include "serve/http/http.h"
#include "session/clients.h"

enum { HTTP_LIVE_HEAD_MAX = 4096 };

/* The tracks that the head of a response announces. */
struct http_live_tracks {
    bool audio, video;
    bool drop;  /* tracks that were not announced are left out */
    bool no_opus; /* the player's demuxer fails on Opus in FLV */
};

struct http_live_kind {
    const char *end, *type;       /* ".flv", "video/x-flv" */
    enum clients_type client;     /* type of its players in the list of clients */
    const struct live_format *wire;
    const struct live_format *ws; /* over WebSocket; NULL: not supported */
    bool announces;               /* its head announces the tracks: wait until they are known */
    bool waits;                   /* wait for the tracks, but send later ones too */
    const char *other_end;        /* also served where the mount has this extension, under its
                                   * own extension, while the stream is live; NULL: no */
    /* Sets the parameters of the wire. NULL: all 0. */
    void (*params)(const struct http_live_tracks *p, uint32_t param[LIVE_PARAMS]);
    /* Writes the bytes before those of the wire, at most HTTP_LIVE_HEAD_MAX, and returns their
     * number. NULL: none. */
    size_t (*head)(const struct http_live_tracks *p, uint8_t *out);
};

extern const struct http_live_kind *const http_live_kinds[]; /* ends with NULL */

/* Mounts all kinds. The handler declines paths that are not live streams of http_remux. */
void http_live_mount(struct http_mux *mux);

/* Matches a path against a mount like "[vhost]/[app]/[stream].flv". app and stream point into the
 * path; app is NULL if the mount has none. `host` is the Host of the request. Returns false if the
 * path does not match. */
struct http_live_name {
    const char *app, *stream;
    size_t app_size, stream_size;
};
bool http_live_match(const char *mount, const char *host, const char *path,
                     struct http_live_name *out);

#endif
