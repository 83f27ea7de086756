/* SPDX-License-Identifier: MIT */
/* play.h - what players of live streams and of files over HTTP and WebSocket have in common; for
 * serve/http alone.
 *
 * The answer's body has no length and no chunks: it ends with the connection, whose bytes are those
 * of a wire from then on.
 */
#ifndef SERVE_HTTP_PLAY_H
#define SERVE_HTTP_PLAY_H

#include "proto/http/ws.h"
#include "serve/http/live.h"
#include "session/player.h"

/* Not inlined: its frame would stay on the stack below the player for all its life. */
#define HTTP_PLAY_SHORT_LIVED __attribute__((noinline))

/* A player's side of a WebSocket. */
struct http_live_ws {
    struct http_ws_in in;
    char accept[HTTP_WS_KEY_SIZE];
    char protocol[64]; /* "": none was asked for */
    uint8_t control[HTTP_WS_CONTROL_MAX];
    size_t control_size;
};

struct http_play {
    struct session_player player;
    struct session session;
    struct http_exchange *x;
    const char *end, *type;  /* ".flv", "video/x-flv" */
    struct http_live_ws *ws; /* NULL: plain HTTP */
    char *memory;            /* of its names */
};

/* It asks for a stream of x->vhost: the errors of session_find_stream(). http_play_fini() follows
 * in any case. */
err_t http_play_init(struct http_play *p, const struct http_live_name *name)
    __attribute__((warn_unused_result));
void http_play_fini(struct http_play *p);
/* May it? An error is why not. Yields. */
err_t http_play_let_in(struct http_play *p, const struct session_player_kind *kind)
    __attribute__((warn_unused_result));
/* It was let in: it is told so. What it said beyond its request is taken. Yields. */
err_t http_play_welcome(struct http_play *p) __attribute__((warn_unused_result));
/* Bytes before those of the wire. Yields. */
err_t http_play_write(struct http_play *p, const void *data, size_t size)
    __attribute__((warn_unused_result));
/* It plays no more; gives `err` with what it was about. */
err_t http_play_leave(struct http_play *p, err_t err) __attribute__((warn_unused_result));

/* For struct session_player_kind. A player has nothing to say; over WebSocket it may ask whether we
 * are there. */
err_t http_play_readable(struct session_player *player) __attribute__((warn_unused_result));
void http_play_log_sample(const struct session_player *player, co_usec now);

/* Is it FFmpeg before 8.0? That reads neither audio nor video of FLV with Opus, and says its
 * version in User-Agent. HTTP has no word for what others decode, so they are sent everything. */
bool http_play_no_opus(const struct http_request *req);
#define HTTP_PLAY_NO_OPUS "FFmpeg before 8.0 reads no FLV with Opus" /* for the log */

/* x->vhost is there. Valid as long as the exchange, and what is given to free(). */
char *http_names_make(struct session_stream *out, const struct http_exchange *x,
                      const struct http_live_name *from);
/* 426 with the version that we speak. */
err_t http_live_ws_refuse(struct http_response *r) __attribute__((warn_unused_result));

/* The head of the answer. Without a WebSocket `ws` is NULL. */
err_t http_play_head(struct http_exchange *x, const char *type, const struct http_live_ws *ws)
    __attribute__((warn_unused_result));
/* HEAD is answered as GET is, as far as that needs no backend: by addresses, pages and tokens. */
err_t http_play_poll(struct http_exchange *x, const struct http_live_name *name)
    __attribute__((warn_unused_result));
/* One that was not let in is told so, and the log why; takes `why`. */
err_t http_play_not_let_in(struct http_exchange *x, err_t why) __attribute__((warn_unused_result));
/* Does it want a WebSocket? *ws is to be freed then, else it is NULL. False: it cannot have one, as
 * it asks or at all. */
bool http_play_upgrade(const struct http_exchange *x, bool possible, struct http_live_ws **ws);

#endif
