/* SPDX-License-Identifier: MIT */
/* play.c - HTTP and WebSocket players of live streams and of files. */
#include "serve/http/play.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "base/text.h"
#include "session/tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    READ_SIZE = 2048,
    FRAME_MAX = 64 * 1024, /* largest WebSocket frame from a player */
    WITH_OPUS = 62,        /* libavformat of FFmpeg 8.0 reads Opus in FLV */
};

/* ---- WebSocket */

/* Creates the WebSocket state for a request, RFC 6455 4.2.1. Returns NULL if the request is
 * invalid. */
static struct http_live_ws *ws_open(const struct http_request *req)
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
    if (protocol) /* a client that lists protocols expects one of them in the answer */
        (void)snprintf(ws->protocol, sizeof(ws->protocol), "%.*s",
                       (int)strcspn(protocol, ", "), protocol);
    http_ws_in_init(&ws->in, true, FRAME_MAX);
    return ws;
}

err_t http_live_ws_reject(struct http_response *r)
{
    http_response_add(r, "Upgrade", "websocket");
    http_response_add(r, "Sec-WebSocket-Version", "13");
    return http_response_status(r, 426);
}

/* Adds the fields of a response with 101. */
static void ws_fields(const struct http_live_ws *ws, struct http_response *r)
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
        return NULL; /* a player sends no data */
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

/* Handles input of the player: answers pings and sets *done on a close frame. Modifies the bytes.
 * Yields. */
static err_t ws_input(struct http_live_ws *ws, struct io *io, uint8_t *data, size_t size,
                      bool *done)
{
    static const struct http_ws_handler handler = { on_payload };
    struct ws_input h = { ws, io, done };

    return http_ws_feed(&ws->in, data, size, &handler, &h);
}

/* ---- names */

/* All in one allocation, each with a '\0' at its end: app, stream, "?" and query, tcUrl, page. It
 * outlives the request. */
char *http_names_make(struct session_stream *out, const struct http_exchange *x,
                      const struct http_live_name *from)
{
    const char *page = http_request_field(x->req, "Referer");
    const char *host = http_request_field(x->req, "Host");
    char *memory = must_print("%.*s%c%.*s%c%s%s%chttp%s://%s/%.*s%c%s", (int)from->app_size,
                              from->app, '\0', (int)from->stream_size, from->stream, '\0',
                              *x->req->query ? "?" : "", x->req->query, '\0', x->tls ? "s" : "",
                              host ? host : x->vhost->name, (int)from->app_size, from->app, '\0',
                              text_or_empty(page));

    *out = (struct session_stream){ .vhost = x->vhost->name, .ip = x->ip, .app = memory };
    out->name = out->app + strlen(out->app) + 1;
    out->param = out->name + strlen(out->name) + 1;
    out->tc_url = out->param + strlen(out->param) + 1;
    out->page_url = out->tc_url + strlen(out->tc_url) + 1;
    return memory;
}

/* ---- a player */

err_t http_play_init(struct http_play *p, const struct http_live_name *name)
{
    struct session *s = &p->session;

    session_init(s, p->x->env, p->x->io);
    p->memory = http_names_make(&s->names, p->x, name);
    session_begin(s);
    return session_find_stream(s, p->x->vhost->name, s->names.app, s->names.name);
}

void http_play_fini(struct http_play *p)
{
    session_fini(&p->session);
    free(p->memory);
}

err_t http_play_admit(struct http_play *p, const struct session_player_kind *kind)
{
    return session_player_begin(&p->player, &p->session, kind,
                                http_request_field(p->x->req, "Authorization"));
}

bool http_play_no_opus(const struct http_request *req)
{
    static const char name[] = "Lavf/";
    const char *agent = http_request_field(req, "User-Agent");

    return agent && strncmp(agent, name, sizeof(name) - 1) == 0 &&
           strtoul(agent + sizeof(name) - 1, NULL, 10) < WITH_OPUS;
}

err_t http_play_head(struct http_exchange *x, const char *type, const struct http_live_ws *ws)
{
    err_t err;

    if (ws) {
        ws_fields(ws, x->resp);
        err = http_response_begin(x->resp, 101, HTTP_TO_CLOSE);
    } else {
        http_response_add(x->resp, "Content-Type", "%s", type);
        http_response_add(x->resp, "Cache-Control", "no-cache");
        http_response_add(x->resp, "Accept-Ranges", "none");
        err = http_response_begin(x->resp, 200, HTTP_TO_CLOSE);
    }
    x->resp->close = true;
    return err ? err : http_response_flush(x->resp);
}

err_t http_play_start(struct http_play *p)
{
    struct http_exchange *x = p->x;
    uint8_t *rest;
    size_t left;
    err_t err;

    log_trace("HTTP client identified, type=%s%s, ip=%s:%d, stream=%s, param=%s",
              p->ws ? "ws" : "http", p->end, x->ip, x->port, live_source_name(p->session.src),
              log_param(x->req->query));
    err = http_play_head(x, p->type, p->ws);
    http_reader_detach(x->reader, &rest, &left);
    if (!err && p->ws)
        err = ws_input(p->ws, x->io, rest, left, &p->player.sender.done);
    http_reader_forget(x->reader); /* free the read buffer: a player does not need it */
    return err;
}

err_t http_play_write(struct http_play *p, const void *data, size_t size)
{
    uint8_t frame[HTTP_WS_HEAD_MAX];
    struct iovec iov[2] = { { frame, 0 }, { (void *)(uintptr_t)data, size } };

    if (p->ws)
        iov[0].iov_len = http_ws_head(frame, HTTP_WS_BINARY, size, NULL);
    return io_writev(p->x->io, iov, 2);
}

err_t http_play_end(struct http_play *p, err_t err)
{
    session_player_end(&p->player, err);
    session_log_did(&p->session, err);
    return err ? err_wrap(err, "play %s", p->end) : NULL;
}

err_t http_play_readable(struct session_player *player)
{
    struct http_play *p = container_of(player, struct http_play, player);
    uint8_t buf[READ_SIZE];
    size_t n = 0;
    err_t err = io_read_now(p->x->io, buf, sizeof(buf), &n);

    if (!err && p->ws && n > 0)
        err = ws_input(p->ws, p->x->io, buf, n, &p->player.sender.done);
    return err;
}

void http_play_log_sample(const struct session_player *p, co_usec now)
{
    log_always(LOG_TRACE,
               "%s http: got %llu msgs, age=%lld, min=%u, mw=%lld", sampled_name(SAMPLED_HTTP),
               (unsigned long long)live_sender_pending(&p->sender),
               us_to_ms(now - p->s->began_at), p->sender.set.mw_msgs, us_to_ms(p->sender.merge));
}

err_t http_play_poll(struct http_exchange *x, const struct http_live_name *name)
{
    err_t err = http_exchange_allowed(x, CONF_PLAY);
    struct session_stream names;
    char *memory;

    if (err)
        return err;
    memory = http_names_make(&names, x, name);
    err = tokens_check(x->env, x->vhost, CONF_PLAY, &names,
                       http_request_field(x->req, "Authorization"), NULL);
    free(memory);
    return err;
}

HTTP_PLAY_SHORT_LIVED err_t http_play_reject(struct http_exchange *x, err_t why)
{
    int status = err_class(why) == ERR_CLASS_DENIED ? 403 : 503; /* 503: no backend answered */
    char text[300];

    log_warn("HTTP player is refused: %s", err_text(why, text, sizeof(text)));
    err_free(&why);
    return http_response_status(x->resp, status);
}

bool http_play_upgrade(const struct http_exchange *x, bool possible, struct http_live_ws **ws)
{
    *ws = NULL;
    if (!http_request_has(x->req, "Upgrade", "websocket"))
        return true;
    if (possible)
        *ws = ws_open(x->req);
    return *ws;
}
