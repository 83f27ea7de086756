/* SPDX-License-Identifier: MIT */
/* conn.c - the life of one RTSP client. */
#include "serve/rtsp/conn.h"

#include "base/log.h"
#include "base/must.h"
#include "co/net/io_tls.h"
#include "serve/rtsp/publish.h"
#include "serve/rtsp/tunnel_post.h"
#include "session/remote.h"
#include "session/workers.h"

#include <stdio.h>
#include <stdlib.h>

#define METHODS (RTSP_BIT(RTSP_OPTIONS) | RTSP_BIT(RTSP_DESCRIBE) | RTSP_BIT(RTSP_SETUP) | \
                 RTSP_BIT(RTSP_PLAY) | RTSP_BIT(RTSP_PAUSE) | RTSP_BIT(RTSP_GET_PARAMETER) | \
                 RTSP_BIT(RTSP_SET_PARAMETER) | RTSP_BIT(RTSP_TEARDOWN) | \
                 RTSP_BIT(RTSP_ANNOUNCE) | RTSP_BIT(RTSP_RECORD))

enum { LAST_WORDS_MAX = 1024 };

#define FIRST_SETUP CO_SECONDS(10)

static const struct rtsp_limits limits = {
    .max_line = 4096, .max_head = 16 * 1024, .max_fields = 64, .max_body = 64 * 1024,
    .idle_time = CO_SECONDS(60), .message_time = CO_SECONDS(10),
};

static struct rtsp_conn *conn_new(struct session_env *env, struct io *io, const char *ip)
{
    const struct conf_rtsp_server *conf = &env->conf->rtsp_server;
    struct rtsp_conn *c = must(calloc(1, sizeof(*c)));

    session_init(&c->base, env, io);
    c->move_to = -1;
    workers_connected(env);
    (void)snprintf(c->ip, sizeof(c->ip), "%s", ip);
    c->base.names = (struct session_stream){ .vhost = "", .app = "", .name = "", .param = "",
                                             .tc_url = "", .page_url = "", .ip = c->ip };
    c->rules = (struct rtsp_server_rules){
        .methods = METHODS, .transports = { .tcp = conf->tcp },
        .own_channels = conf->channels == CONF_RTSP_CHANNELS_SERVER,
        .timeout = (int)(conf->session_timeout / CO_SECONDS(1)), .name = env->signature,
    };
    c->server.rules = &c->rules;
    return c;
}

err_t rtsp_conn_new(struct rtsp_conn **out, struct session_env *env, int fd, bool proxied,
                    struct io_tls_server *tls)
{
    struct io *io;
    err_t err = session_remote_open(&io, fd);

    if (err)
        return err;
    *out = conn_new(env, io, "");
    (*out)->proxied = proxied;
    (*out)->tls = tls ? io_tls_server_ref(tls) : NULL;
    return NULL;
}

struct peers_place *rtsp_conn_place(struct rtsp_conn *c)
{
    return &c->place;
}

void rtsp_conn_free(struct rtsp_conn *c)
{
    session_place_leave(&c->place);
    workers_disconnected(c->base.env);
    co_deadline_cancel(&c->deadline);
    rtsp_reader_fini(&c->reader);
    rtsp_server_fini(&c->server);
    io_close(c->base.io);
    (void)io_tls_server_unref(c->tls);
    session_fini(&c->base);
    free(c->names);
    free(c->path);
    free(c);
}

/* Tell why it is the end, if that is the peer's fault. */
static void last_words(struct rtsp_conn *c)
{
    struct wr w;
    err_t err;

    if (c->reader.status == 0)
        return;
    wr_init(&w, LAST_WORDS_MAX);
    rtsp_put_status(&w, c->reader.status, c->reader.cseq);
    rtsp_put_body(&w, NULL, 0);
    err = io_write(c->base.io, w.buf, w.len);
    err_free(&err);
    wr_free(&w);
}

/* Read requests and answer them until media are to flow, or it goes to another worker. */
static err_t talk(struct rtsp_conn *c)
{
    err_t err = NULL;

    while (!err && !c->begin && c->move_to < 0 && !c->post) {
        struct rtsp_item item;

        err = rtsp_reader_next(&c->reader, &item);
        if (err || item.kind != RTSP_ITEM_MESSAGE || !item.message->is_request)
            continue;
        if (item.message->version == RTSP_V_HTTP)
            err = rtsp_conn_tunnel(c, item.message);
        else
            err = rtsp_conn_request(c, item.message);
    }
    return err;
}

/* It talks until media flow, and again when they have ended. What came behind PLAY in one piece
 * waits in the reader. */
static err_t converse(struct rtsp_conn *c)
{
    err_t err = NULL;

    while (!err && c->move_to < 0 && !c->post) {
        err = talk(c);
        if (!err && c->begin)
            err = c->publish ? rtsp_publish_receive(c) : rtsp_play_send(c);
    }
    if (err)
        last_words(c);
    if (c->move_to < 0)
        rtsp_conn_leave(c, err);
    return err;
}

void rtsp_conn_expect_setup(struct rtsp_conn *c)
{
    co_deadline_set(&c->deadline, FIRST_SETUP, ERR_IO_TIMEOUT, "no SETUP");
}

static err_t greet(struct rtsp_conn *c)
{
    err_t err = NULL;

    if (c->tls)
        err = io_tls_accept(&c->base.io, c->tls, c->base.conf->limits.handshake_timeout);
    c->tls = io_tls_server_unref(c->tls); /* it belongs to this thread, the connection may go */
    rtsp_reader_init(&c->reader, c->base.io, &limits);
    c->base.io->write_timeout = c->base.conf->rtsp_server.send_timeout;
    rtsp_conn_expect_setup(c);
    return err;
}

static err_t run(struct rtsp_conn *c)
{
    err_t err;

    session_begin(&c->base);
    err = greet(c);
    return err ? err : converse(c);
}

void rtsp_conn_tunnelled(struct rtsp_conn *c)
{
    c->tunnelled = true;
    rtsp_reader_fini(&c->reader);
    rtsp_reader_init(&c->reader, c->base.io, &limits);
}

/* It was the begin of a POST, which has the connection now. */
static struct rtsp_post *become_post(struct rtsp_conn *c)
{
    struct rtsp_post *p = c->post;

    *rtsp_post_place(p) = c->place;
    c->place = (struct peers_place){ 0 };
    rtsp_conn_free(c);
    return p;
}

static void end(struct rtsp_conn *c, err_t err)
{
    if (c->post) {
        err_free(&err);
        (void)rtsp_post_main(become_post(c));
        return;
    }
    if (!err && c->move_to >= 0) {
        rtsp_conn_send_away(c);
        return;
    }
    session_log_end(&c->base, &err);
    rtsp_conn_free(c);
}

err_t rtsp_conn_main(void *conn)
{
    struct rtsp_conn *c = conn;
    err_t err;

    co_new_cid();
    co_log_as(LOG_STRANGER);
    err = session_remote(c->base.env, c->base.io, c->proxied, &c->place, c->ip, &c->port);
    if (!c->ip[0] && c->base.conf->empty_ip_ok) { /* a load balancer looked whether we are there */
        rtsp_conn_free(c);
        return NULL;
    }
    if (!err) {
        log_trace("RTSP%s client ip=%s:%d, fd=%d", c->tls ? "S" : "", c->ip, c->port,
                  io_tcp_fd(c->base.io));
        err = run(c);
    }
    end(c, err);
    return NULL;
}

err_t rtsp_conn_go_on_main(void *conn)
{
    struct rtsp_conn *c = conn;
    bool changed;
    err_t err;

    co_log_as(LOG_STRANGER);
    c->base.co = co_self();
    err = session_apply(&c->base, &changed);
    if (!err)
        err = rtsp_conn_request(c, &c->reader.msg);
    if (!err)
        err = converse(c);
    else
        rtsp_conn_leave(c, err);
    end(c, err);
    return NULL;
}

struct rtsp_conn *rtsp_conn_over(struct session_env *env, struct io *io, const char *ip, int port)
{
    struct rtsp_conn *c = conn_new(env, io, ip);

    c->port = port;
    return c;
}

err_t rtsp_conn_over_main(void *conn)
{
    struct rtsp_conn *c = conn;

    co_log_as(LOG_STRANGER);
    log_trace("RTSP client ip=%s:%d over HTTP, fd=%d", c->ip, c->port, io_tcp_fd(c->base.io));
    c->tunnelled = true;
    end(c, run(c));
    return NULL;
}

err_t rtsp_conn_run(struct session_env *env, struct io *io, const char *ip)
{
    struct rtsp_conn *c = conn_new(env, io, ip);
    err_t err = run(c);

    if (c->post)
        rtsp_post_free(become_post(c));
    else
        rtsp_conn_free(c);
    return err;
}
