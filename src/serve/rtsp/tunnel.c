/* SPDX-License-Identifier: MIT */
/* tunnel.c - opens tunnels, on the RTSP port and on HTTP ports. */
#include "base/log.h"
#include "proto/http/ws.h"
#include "proto/rtsp/tunnel.h"
#include "proto/rtsp/ws_io.h"
#include "serve/rtsp/session.h"
#include "serve/rtsp/tunnel_io.h"
#include "serve/rtsp/tunnel_post.h"

#include <stdio.h>
#include <string.h>

enum { HEAD = 512 };

/* A parsed HTTP request that opens a tunnel. */
struct tunnel_request {
    enum rtsp_tunnel kind;
    char cookie[RTSP_COOKIE_MAX + 1];
    char accept[HTTP_WS_KEY_SIZE]; /* for a WebSocket; "": its key is invalid */
    const uint8_t *rest;           /* bytes behind the request */
    size_t size;
};

static void parse(struct tunnel_request *a, const struct rtsp_tunnel_head *h, const char *key,
                  const char *version)
{
    *a = (struct tunnel_request){ .kind = rtsp_tunnel_of(h) };
    if (a->kind == RTSP_TUNNEL_DOWN || a->kind == RTSP_TUNNEL_UP)
        (void)snprintf(a->cookie, sizeof(a->cookie), "%s", h->cookie);
    if (a->kind != RTSP_TUNNEL_WS)
        return;
    if (!key || !version || strcmp(version, "13") != 0 || !http_ws_accept(key, a->accept))
        a->accept[0] = '\0';
}

static bool tunnel_enabled(const struct conf *conf)
{
    return conf->rtsp_server.enabled && conf->rtsp_server.tunnel;
}

/* ---- responses, the same on all ports */

static err_t send_text(struct io *io, const char *text)
{
    return io_write(io, text, strlen(text));
}

static err_t reject(struct io *io, const char *status, const char *fields)
{
    char head[HEAD];

    (void)snprintf(head, sizeof(head), "HTTP/1.0 %s\r\n%sConnection: close\r\n"
                   "Content-Length: 0\r\n\r\n", status, fields);
    return send_text(io, head);
}

static err_t accept_ws(struct io *io, const char *accept)
{
    char head[HEAD];

    (void)snprintf(head, sizeof(head), "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                   "Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n"
                   "Sec-WebSocket-Protocol: " RTSP_TUNNEL_PROTOCOL "\r\n\r\n", accept);
    return send_text(io, head);
}

/* Replaces *io by a tunnel over it; on errors *io is unchanged. */
static err_t upgrade(struct io **io, const struct tunnel_request *a)
{
    err_t err, send_err = NULL;

    if (a->kind == RTSP_TUNNEL_WS && !a->accept[0]) {
        err = err_new(ERR_HTTP, "a WebSocket without a key or with another version");
        send_err = reject(*io, "426 Upgrade Required",
                          "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n");
    } else if (a->kind == RTSP_TUNNEL_WS) {
        err = accept_ws(*io, a->accept);
        if (!err)
            *io = rtsp_ws_open(*io, a->rest, a->size);
    } else {
        err = rtsp_tunnel_open(io, *io, a->cookie);
        if (err) /* opened before the response, as the POST may follow quickly */
            send_err = reject(*io, "409 Conflict", "");
        else
            err = send_text(*io, rtsp_tunnel_answer);
    }
    err_free(&send_err);
    return err;
}

/* ---- RTSP port */

/* Returns false if the connection already has RTSP sessions or is a tunnel. */
static bool can_begin(const struct rtsp_conn *c)
{
    return !c->tunnelled && c->role == RTSP_NO_ROLE && c->server.n_sessions == 0;
}

err_t rtsp_conn_tunnel(struct rtsp_conn *c, const struct rtsp_message *req)
{
    const struct rtsp_tunnel_head h = {
        .method = req->verb, .cookie = rtsp_message_field(req, "x-sessioncookie"),
        .accept = rtsp_message_field(req, "Accept"),
        .type = rtsp_message_field(req, "Content-Type"),
        .upgrade = rtsp_message_field(req, "Upgrade"),
        .protocol = rtsp_message_field(req, "Sec-WebSocket-Protocol"),
    };
    struct tunnel_request a;
    err_t err;

    parse(&a, &h, rtsp_message_field(req, "Sec-WebSocket-Key"),
          rtsp_message_field(req, "Sec-WebSocket-Version"));
    if (a.kind == RTSP_TUNNEL_NONE || !tunnel_enabled(c->base.conf) || !can_begin(c)) {
        err = reject(c->base.io, "404 Not Found", "");
        return err ? err : err_new(ERR_HTTP, "HTTP %.32s that opens no tunnel", req->verb);
    }
    rtsp_reader_detach(&c->reader, &a.rest, &a.size);
    if (a.kind == RTSP_TUNNEL_UP) {
        c->post = rtsp_post_new(c->base.env, c->base.io, a.cookie, a.rest, a.size);
        c->base.io = NULL;
        return NULL;
    }
    err = upgrade(&c->base.io, &a);
    if (err)
        return err;
    log_trace("RTSP client ip=%s:%d continues in a %s", c->tcp.ip, c->tcp.port,
              c->base.io->ops->name);
    rtsp_conn_tunnelled(c);
    return NULL;
}

/* ---- HTTP ports */

static err_t start_post(struct http_exchange *x, const struct tunnel_request *a)
{
    struct rtsp_post *p = rtsp_post_new(x->env, x->io, a->cookie, a->rest, a->size);
    err_t err;

    http_exchange_take(x, rtsp_post_slot(p));
    err = co_go(x->env->connections, "rtsp-post", rtsp_post_main, p);
    if (err)
        rtsp_post_free(p);
    return err;
}

static err_t start_conn(struct http_exchange *x, const struct tunnel_request *a)
{
    struct rtsp_conn *c = rtsp_conn_over_tunnel(x->env, x->io, x->ip, x->port);
    err_t err;

    http_exchange_take(x, &c->tcp.slot);
    err = upgrade(&c->base.io, a);
    if (!err)
        err = co_go(x->env->connections, "rtsp", rtsp_conn_tunnel_main, c);
    if (err)
        rtsp_conn_free(c);
    return err;
}

err_t rtsp_tunnel_http(struct http_exchange *x, void *unused)
{
    const struct rtsp_tunnel_head h = {
        .method = x->req->method, .cookie = http_request_field(x->req, "x-sessioncookie"),
        .accept = http_request_field(x->req, "Accept"),
        .type = http_request_field(x->req, "Content-Type"),
        .upgrade = http_request_field(x->req, "Upgrade"),
        .protocol = http_request_field(x->req, "Sec-WebSocket-Protocol"),
    };
    struct tunnel_request a;
    uint8_t *rest;

    (void)unused;
    parse(&a, &h, http_request_field(x->req, "Sec-WebSocket-Key"),
          http_request_field(x->req, "Sec-WebSocket-Version"));
    x->declined = a.kind == RTSP_TUNNEL_NONE || !tunnel_enabled(x->conf) || x->reserved ||
                  !(x->ports & HTTP_PORT_SERVER);
    if (x->declined)
        return NULL;
    http_reader_detach(x->reader, &rest, &a.size);
    a.rest = rest;
    return a.kind == RTSP_TUNNEL_UP ? start_post(x, &a) : start_conn(x, &a);
}
