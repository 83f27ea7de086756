/* SPDX-License-Identifier: MIT */
/* connect.c - handles connect, the first command of a client (RFC 7425, section 5.4): finds the
 * vhost, authorizes the client, and answers. Needs a coroutine only if on_connect is configured. */
#include "serve/rtmfp/connection.h"

#include "base/log.h"
#include "base/must.h"
#include "session/address_slot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUEUED_MOST = 4 << 20 }; /* bytes queued for one client */

/* ---- messages */

/* Returns the bytes of unsent messages on all flows. Messages that are never abandoned must not
 * pile up: a client can request dozens per packet and never acknowledge the answers. */
static size_t queued_bytes(const struct rtmfp_peer *p)
{
    size_t n = 0;

    for (const struct rtmfp_flow_out *f = p->session.outs; f && f->order == RTMFP_COMMANDS;
         f = f->next)
        n += f->waiting_bytes;
    return n;
}

void rtmfp_write(struct rtmfp_peer *p, struct rtmfp_flow_out *f, uint8_t type, uint32_t time,
               struct rtmfp_bytes body)
{
    struct rtmfp_message *m = f ? rtmfp_rtmp_message_new(type, time, body, co_now()) : NULL;

    if (f && !m)
        rtmfp_peer_close(p, err_new(ERR_NO_MEMORY, "a message to an RTMFP client"));
    else if (f && !f->closing && !f->rejected &&
             (!rtmfp_flow_out_write(f, m, true) || queued_bytes(p) > QUEUED_MOST))
        rtmfp_peer_hostile(p, "it does not read the answers to its commands");
    rtmfp_message_unref(m);
    rtmfp_peer_touch(p);
}

void rtmfp_write_body(struct rtmfp_peer *p, struct rtmfp_flow_out *f, uint8_t type, struct wr *body)
{
    err_t err = wr_err(body, "an RTMFP message");

    if (err)
        rtmfp_peer_close(p, err);
    else
        rtmfp_write(p, f, type, 0, rtmfp_bytes(body->buf, body->len));
    wr_free(body);
}

/* ---- answers */

/* Sends how often the server and other clients expect keepalives (5.3.4). */
static void send_keepalives(struct rtmfp_connection *c)
{
    const struct conf_rtmfp_server *conf = &c->base.env->conf->rtmfp_server;
    const struct rtmfp_event e = {
        .id = RTMFP_KEEPALIVES, .value = (uint32_t)us_to_ms(conf->keepalive),
        .more = (uint32_t)us_to_ms(conf->keepalive_peer),
    };
    uint8_t body[RTMFP_EVENT_MAX];

    rtmfp_write(c->peer, c->out, RTMP_USER_CONTROL, 0,
              rtmfp_bytes(body, rtmfp_event_write(&e, body)));
}

static void welcome(struct rtmfp_connection *c)
{
    const struct session_env *env = c->base.env;
    const struct rtmp_reply_server us = { env->signature, env->version, getpid(), c->cid };
    struct wr body;

    wr_init(&body, RTMFP_REPLY_MAX);
    rtmp_reply_connect(&body, c->transaction, c->encoding, c->enhanced, &us);
    c->open = true;
    c->peer->service->stat.connected++;
    rtmfp_write_body(c->peer, c->out, RTMP_COMMAND, &body);
    send_keepalives(c);
}

/* Sends the reason before the session is closed. */
static void refuse(struct rtmfp_connection *c, err_t why)
{
    char text[300];
    struct wr body;

    log_warn("RTMFP client %s is refused: %s", c->ip, err_text(why, text, sizeof(text)));
    wr_init(&body, RTMFP_REPLY_MAX);
    rtmp_reply_error(&body, c->transaction, RTMP_CONNECT_REJECTED, NULL);
    rtmfp_write_body(c->peer, c->out, RTMP_COMMAND, &body);
    rtmfp_peer_close(c->peer, why);
}

/* ---- authorization */

static err_t authorize(struct rtmfp_connection *c)
{
    err_t err = session_ask(&c->base, HOOKS_CONNECT);

    c->admitted_by_hook = !err;
    return err;
}

static err_t authorize_main(void *connection)
{
    struct rtmfp_connection *c = connection;
    struct rtmfp_peer *p = c->peer;
    err_t err;

    co_set_cid(c->cid);
    session_log_as_client(c->base.env, c->ip);
    err = authorize(c);
    if (!err)
        err = co_check();
    c->authorizer = NULL;
    if (p->closing) /* the peer is closing and only waits for this coroutine */
        rtmfp_peer_close(p, err);
    else if (err)
        refuse(c, err);
    else
        welcome(c);
    return NULL;
}

static err_t admit(struct rtmfp_connection *c)
{
    const struct conf_http_hooks *hooks = &c->base.vhost->http_hooks;
    struct co_group *group = c->base.env->connections;
    err_t err;

    if (!hooks->enabled || hooks->on_connect.n == 0) {
        c->admitted_by_hook = true; /* on_close may be configured without on_connect */
        welcome(c);
        return NULL;
    }
    err = co_go(group, "rtmfp", authorize_main, c);
    if (!err)
        c->authorizer = co_newest(group);
    return err;
}

/* ---- commands from the client */

static void remember(struct rtmfp_connection *c, const struct rtmp_command *cmd,
                     const struct rtmp_connect *request)
{
    struct session_stream *names = &c->base.names;

    c->urls =
        must_print("%s%c%s%c%s", request->tc_url, '\0', request->page_url, '\0', request->swf_url);
    names->tc_url = c->urls;
    names->page_url = names->tc_url + strlen(names->tc_url) + 1;
    names->swf_url = names->page_url + strlen(names->page_url) + 1;
    c->transaction = cmd->transaction;
    c->encoding = request->object_encoding;
    c->enhanced = request->enhanced;
    c->opus = request->opus;
}

static err_t find_app(struct rtmfp_connection *c)
{
    err_t err = rtmp_url_resolve(&c->url, c->base.names.tc_url, NULL);

    if (err)
        return err;
    c->base.names.param = c->url.param;
    log_trace("connect app, tcUrl=%.256s, pageUrl=%.256s, swfUrl=%.256s, schema=%s, vhost=%s, "
              "port=%d, app=%s", c->base.names.tc_url, c->base.names.page_url,
              c->base.names.swf_url, c->url.schema, c->url.vhost, c->url.port, c->url.app);
    err = session_find_stream(&c->base, c->url.vhost, c->url.app, c->url.stream);
    if (!err && !c->base.vhost->rtmfp.enabled)
        err = err_new(ERR_VHOST_DISABLED, "vhost %s has no RTMFP: rtmfp { enabled on; }",
                      c->base.vhost->name);
    return err;
}

static struct rtmfp_connection *connection_new(struct rtmfp_peer *p, struct rtmfp_flow_in *f)
{
    struct rtmfp_connection *c = must(calloc(1, sizeof(*c)));
    uint8_t metadata[RTMFP_FLOW_METADATA_MAX];
    size_t size = rtmfp_flow_metadata_build(0, metadata);

    session_init(&c->base, p->service->base.env, NULL);
    c->peer = p;
    c->in = f;
    c->out = rtmfp_flow_open(&p->session, rtmfp_bytes(metadata, size), f, RTMFP_COMMANDS);
    (void)snprintf(c->cid, sizeof(c->cid), "%s", p->cid);
    (void)rtmfp_peer_ip(p, c->ip);
    c->base.id = c->cid;
    c->base.began_at = co_now();
    c->base.names = (struct session_stream){ .vhost = "", .app = "", .name = "", .param = "",
                                             .tc_url = "", .page_url = "", .swf_url = "",
                                             .ip = c->ip };
    return c;
}

void rtmfp_connect(struct rtmfp_peer *p, struct rtmfp_flow_in *f, const struct rtmp_command *cmd)
{
    struct rtmfp_connection *c = connection_new(p, f);
    struct rtmp_connect request;
    err_t err = rtmp_connect_parse(&request, cmd);

    p->connection = c;
    c->transaction = cmd->transaction;
    if (!err) {
        remember(c, cmd, &request);
        err = find_app(c);
    }
    if (!err)
        err = admit(c);
    if (err)
        refuse(c, err);
}

void rtmfp_connection_free(struct rtmfp_connection *c)
{
    if (c->admitted_by_hook) {
        c->base.in = c->peer->in;
        c->base.out = c->peer->out;
        session_notify(&c->base, HOOKS_CLOSE);
    }
    if (c->out)
        rtmfp_flow_out_close(c->out);
    rtmp_url_free(&c->url);
    session_fini(&c->base);
    free(c->urls);
    free(c);
}
