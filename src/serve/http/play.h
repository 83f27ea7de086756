/* SPDX-License-Identifier: MIT */
/* play.h - shared by HTTP and WebSocket players of live streams and of files; used only inside
 * serve/http.
 *
 * The body of the response has neither length nor chunks: it ends with the connection, and its
 * bytes are those of a wire.
 */
#ifndef SERVE_HTTP_PLAY_H
#define SERVE_HTTP_PLAY_H

#include "proto/http/ws.h"
#include "serve/http/live.h"
#include "session/player.h"

/* Not inlined: otherwise its frame would stay on the stack below the player for the player's
 * lifetime. */
#define HTTP_PLAY_SHORT_LIVED __attribute__((noinline))

/* State of a player's WebSocket. */
struct http_live_ws {
    struct http_ws_in in;
    char accept[HTTP_WS_KEY_SIZE];
    char protocol[64]; /* "": none was requested */
    uint8_t control[HTTP_WS_CONTROL_MAX];
    size_t control_size;
};

struct http_play {
    struct session_player player;
    struct session session;
    struct http_exchange *x;
    const char *end, *type;  /* ".flv", "video/x-flv" */
    struct http_live_ws *ws; /* NULL: plain HTTP */
    char *memory;            /* memory of its names */
};

/* Finds the stream of x->vhost that the player requests; the errors of session_find_stream(). Call
 * http_play_fini() in any case. */
err_t http_play_init(struct http_play *p, const struct http_live_name *name)
    __attribute__((warn_unused_result));
void http_play_fini(struct http_play *p);
/* Authorizes the player and registers it as a client. Yields. */
err_t http_play_admit(struct http_play *p, const struct session_player_kind *kind)
    __attribute__((warn_unused_result));
/* Sends the head of the response and handles bytes that came behind the request. Yields. */
err_t http_play_start(struct http_play *p) __attribute__((warn_unused_result));
/* Sends bytes before those of the wire. Yields. */
err_t http_play_write(struct http_play *p, const void *data, size_t size)
    __attribute__((warn_unused_result));
/* Ends playback. Returns `err`, wrapped with the extension of the request. */
err_t http_play_end(struct http_play *p, err_t err) __attribute__((warn_unused_result));

/* For struct session_player_kind. Reads input of the player: ignored, except for pings and close of
 * a WebSocket. */
err_t http_play_readable(struct session_player *player) __attribute__((warn_unused_result));
void http_play_log_sample(const struct session_player *player, co_usec now);

/* Returns true for FFmpeg before 8.0, by its User-Agent: it plays nothing of an FLV stream with
 * Opus. Other HTTP players do not tell what they decode, so they get everything. */
bool http_play_no_opus(const struct http_request *req);
#define HTTP_PLAY_NO_OPUS "FFmpeg before 8.0 reads no FLV with Opus" /* for the log */

/* Builds the names of a session; x->vhost must be set. They are valid as long as the exchange.
 * Returns their memory for free(). */
char *http_names_make(struct session_stream *out, const struct http_exchange *x,
                      const struct http_live_name *from);
/* Sends 426 with the WebSocket version that the server supports. */
err_t http_live_ws_reject(struct http_response *r) __attribute__((warn_unused_result));

/* Sends the head of the response. Without a WebSocket `ws` is NULL. */
err_t http_play_head(struct http_exchange *x, const char *type, const struct http_live_ws *ws)
    __attribute__((warn_unused_result));
/* Checks a HEAD request like a GET, but without a backend: addresses, pages and tokens. */
err_t http_play_poll(struct http_exchange *x, const struct http_live_name *name)
    __attribute__((warn_unused_result));
/* Rejects the player with a status and logs the reason. Frees `why`. */
err_t http_play_reject(struct http_exchange *x, err_t why) __attribute__((warn_unused_result));
/* Handles a request for a WebSocket: then *ws is set, and the caller frees it. Returns false if the
 * request is invalid or a WebSocket is not `possible`. */
bool http_play_upgrade(const struct http_exchange *x, bool possible, struct http_live_ws **ws);

#endif
