/* SPDX-License-Identifier: MIT */
/* session.c - the life of one RTSP client. */
#include "serve/rtsp/session.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "serve/rtsp/publish.h"
#include "serve/rtsp/tunnel_post.h"

#include <stdio.h>
#include <stdlib.h>

#define METHODS (RTSP_BIT(RTSP_OPTIONS) | RTSP_BIT(RTSP_DESCRIBE) | RTSP_BIT(RTSP_SETUP) | \
                 RTSP_BIT(RTSP_PLAY) | RTSP_BIT(RTSP_PAUSE) | RTSP_BIT(RTSP_GET_PARAMETER) | \
                 RTSP_BIT(RTSP_SET_PARAMETER) | RTSP_BIT(RTSP_TEARDOWN) | \
                 RTSP_BIT(RTSP_ANNOUNCE) | RTSP_BIT(RTSP_RECORD))

enum { LAST_STATUS_MAX = 1024 };

static const struct rtsp_limits limits = {
    .max_line = 4096, .max_head = 16 * 1024, .max_fields = 64, .max_body = 64 * 1024,
    .idle_time = CO_SECONDS(60), .message_time = CO_SECONDS(10),
};

static const struct tcp_ops ops;

static struct rtsp_conn *conn_new(struct session_env *env, struct io *io, const char *ip)
{
    const struct conf_rtsp_server *conf = &env->conf->rtsp_server;
    struct rtsp_conn *c = must(calloc(1, sizeof(*c)));

    session_init(&c->base, env, io);
    tcp_conn_init(&c->tcp, &ops, env, &c->base.io);
    (void)snprintf(c->tcp.ip, sizeof(c->tcp.ip), "%s", ip);
    c->base.names = (struct session_stream){ .vhost = "", .app = "", .name = "", .param = "",
                                             .tc_url = "", .page_url = "", .ip = c->tcp.ip };
    c->rules = (struct rtsp_server_rules){
        .methods = METHODS, .transports = { .tcp = conf->tcp },
        .own_channels = conf->channels == CONF_RTSP_CHANNELS_SERVER,
        .timeout = (int)(conf->session_timeout / CO_SECONDS(1)), .name = env->signature,
    };
    c->server.rules = &c->rules;
    c->answer = rtsp_conn_request;
    return c;
}

static struct rtsp_conn *conn_of(struct tcp_conn *c)
{
    return container_of(c, struct rtsp_conn, tcp);
}

static struct tcp_conn *create(struct session_env *env, struct io *io,
                               const struct protocol_accepted *accepted)
{
    (void)accepted;
    return &conn_new(env, io, "")->tcp;
}

void rtsp_conn_free(struct rtsp_conn *c)
{
    co_deadline_cancel(&c->deadline);
    rtsp_reader_fini(&c->reader);
    rtsp_server_fini(&c->server);
    tcp_conn_fini(&c->tcp);
    session_fini(&c->base);
    free(c->names);
    free(c->path);
    free(c);
}

/* Sends the status of an invalid request before the connection closes. */
static void send_last_status(struct rtsp_conn *c)
{
    struct wr w;
    err_t err;

    if (c->reader.status == 0)
        return;
    wr_init(&w, LAST_STATUS_MAX);
    rtsp_put_status(&w, c->reader.status, c->reader.cseq);
    rtsp_put_body(&w, NULL, 0);
    err = io_write(c->base.io, w.buf, w.len);
    err_free(&err);
    wr_free(&w);
}

/* Reads and answers requests until media start or the connection moves to another worker. */
static err_t serve_requests(struct rtsp_conn *c)
{
    err_t err = NULL;

    while (!err && !c->begin && c->tcp.move_to < 0 && !c->post) {
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

/* Transfers media until TEARDOWN; after it the connection may continue with another stream. */
static err_t transfer_media(struct rtsp_conn *c)
{
    err_t err = c->publish ? rtsp_publish_receive(c) : rtsp_play_send(c);

    if (!err)
        rtsp_conn_leave(c, NULL);
    return err;
}

/* Alternates between requests and media until the end. Bytes that came together with PLAY wait in
 * the reader. */
static err_t serve(struct rtsp_conn *c)
{
    err_t err = NULL;

    while (!err && c->tcp.move_to < 0 && !c->post) {
        err = serve_requests(c);
        if (!err && c->begin)
            err = transfer_media(c);
    }
    if (err)
        send_last_status(c);
    if (c->tcp.move_to < 0)
        rtsp_conn_leave(c, err);
    return err;
}

static err_t prepare(struct rtsp_conn *c)
{
    err_t err = tcp_conn_secure(&c->tcp, c->base.conf->limits.handshake_timeout);

    rtsp_reader_init(&c->reader, c->base.io, &limits);
    c->base.io->write_timeout = c->base.conf->rtsp_server.send_timeout;
    rtsp_conn_expect_setup(c);
    return err;
}

static err_t run(struct rtsp_conn *c)
{
    err_t err;

    session_begin(&c->base);
    err = prepare(c);
    return err ? err : serve(c);
}

void rtsp_conn_tunnelled(struct rtsp_conn *c)
{
    c->tunnelled = true;
    rtsp_reader_fini(&c->reader);
    rtsp_reader_init(&c->reader, c->base.io, &limits);
}

/* The connection turned out to be the POST of a tunnel: hands over its slot and frees it. */
static struct rtsp_post *become_post(struct rtsp_conn *c)
{
    struct rtsp_post *p = c->post;

    *rtsp_post_slot(p) = c->tcp.slot;
    c->tcp.slot = (struct address_slot){ 0 };
    rtsp_conn_free(c);
    return p;
}

static void end(struct tcp_conn *tcp, err_t err)
{
    struct rtsp_conn *c = conn_of(tcp);

    if (c->post) {
        err_free(&err);
        (void)rtsp_post_main(become_post(c));
        return;
    }
    session_log_end(&c->base, &err);
    rtsp_conn_free(c);
}

static err_t run_client(struct tcp_conn *tcp)
{
    struct rtsp_conn *c = conn_of(tcp);

    log_trace("RTSP%s client ip=%s:%d, fd=%d", tcp->tls ? "S" : "", tcp->ip, tcp->port,
              io_tcp_fd(c->base.io));
    return run(c);
}

static void arrive(struct tcp_conn *tcp)
{
    struct rtsp_conn *c = conn_of(tcp);

    c->base.env = tcp->env;
    c->base.generation = c->base.env->generation - 1; /* so that the snapshot of this worker is
                                                       * applied next */
    c->arrived = true;
}

static err_t resume(struct tcp_conn *tcp)
{
    struct rtsp_conn *c = conn_of(tcp);
    bool changed;
    err_t err;

    c->base.co = co_self();
    err = session_apply(&c->base, &changed);
    if (!err)
        err = rtsp_conn_request(c, &c->reader.msg);
    if (err) {
        rtsp_conn_leave(c, err);
        return err;
    }
    return serve(c);
}

static void free_conn(struct tcp_conn *tcp)
{
    rtsp_conn_free(conn_of(tcp));
}

static const struct tcp_ops ops = {
    .name = "rtsp", .secure = "rtsps", .create = create, .run = run_client, .arrive = arrive,
    .resume = resume, .end = end, .free = free_conn,
};

err_t rtsp_accept(struct session_env *env, const struct protocol_accepted *accepted,
                  struct address_slot *slot)
{
    return tcp_accept(&ops, env, accepted, slot);
}

struct rtsp_conn *rtsp_conn_over_tunnel(struct session_env *env, struct io *io, const char *ip,
                                        int port)
{
    struct rtsp_conn *c = conn_new(env, io, ip);

    c->tcp.port = port;
    return c;
}

err_t rtsp_conn_tunnel_main(void *conn)
{
    struct rtsp_conn *c = conn;

    co_log_as(LOG_UNTRUSTED);
    log_trace("RTSP client ip=%s:%d over HTTP, fd=%d", c->tcp.ip, c->tcp.port,
              io_tcp_fd(c->base.io));
    c->tunnelled = true;
    tcp_conn_end(&c->tcp, run(c));
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
