/* SPDX-License-Identifier: MIT */
/* accept.c - the first words of a client: handshake and connect. */
#include "base/log.h"
#include "base/must.h"
#include "proto/rtmp/handshake.h"
#include "serve/rtmp/session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Most clients leave most of it empty: that costs nothing. */
static char *copy(const char *text)
{
    return *text ? must_dup(text) : NULL;
}

/* Read on until a command comes; what else comes before it is not for us. */
static err_t read_command(struct rtmp_session *s, struct rtmp_command *out)
{
    for (;;) {
        struct rtmp_msg msg;
        bool is_command;
        err_t err = rtmp_conn_read(&s->conn, &msg);

        if (err)
            return err;
        is_command = msg.type == RTMP_COMMAND || msg.type == RTMP_COMMAND_AMF3;
        if (is_command)
            err = rtmp_command_parse(out, &msg);
        rtmp_conn_release(&s->conn, &msg);
        if (err || is_command)
            return err;
    }
}

/* What a client is shown of us; edges of a cluster log it, for tracing by grep. */
static err_t put_connect_result(struct rtmp_session *s, struct wr *body,
                                const struct rtmp_command *c, const struct rtmp_connect *connect)
{
    const struct {
        const char *key;
        struct amf_value value;
    } ids[] = {
        { "srs_sig", amf_text("SRS") },
        { "srs_server", amf_text(s->env->signature) },
        { "srs_version", amf_text(s->env->version) },
        { "srs_pid", amf_number(getpid()) },
        { "srs_id", amf_text(co_cid()) },
    };
    struct amf_value data = amf_object();
    struct amf amf;
    err_t err = NULL;

    amf_init(&amf, 0);
    for (size_t i = 0; !err && i < sizeof(ids) / sizeof(ids[0]); i++)
        err = amf_set(&amf, &data, ids[i].key, strlen(ids[i].key), &ids[i].value);
    if (!err)
        rtmp_reply_connect(body, c->transaction, connect->object_encoding, connect->enhanced,
                           &data);
    amf_free(&amf);
    return err;
}

static err_t welcome(struct rtmp_session *s, const struct rtmp_command *c,
                     const struct rtmp_connect *connect)
{
    uint32_t window = (uint32_t)s->vhost->out_ack_size;
    struct wr out, body;
    err_t err;

    wr_init(&out, RTMP_REPLY_MAX);
    wr_init(&body, RTMP_REPLY_MAX);
    if (window > 0)
        rtmp_conn_put_u32(&s->conn, &out, RTMP_WINDOW_ACK_SIZE, window);
    rtmp_conn_put_bandwidth(&s->conn, &out, window > 0 ? window : 2500000, RTMP_LIMIT_DYNAMIC);
    rtmp_conn_put_chunk_size(&s->conn, &out, (uint32_t)s->vhost->chunk_size);
    err = put_connect_result(s, &body, c, connect);
    rtmp_conn_put(&s->conn, &out, RTMP_COMMAND, 0, &body);
    wr_free(&body);
    rtmp_reply_bw_done(&body);
    rtmp_conn_put(&s->conn, &out, RTMP_COMMAND, 0, &body);
    wr_free(&body);
    if (err) {
        wr_free(&out);
        return err;
    }
    return rtmp_conn_send_all(&s->conn, &out);
}

/* The client is told why before it is dropped; that it may not hear it is no matter. */
static err_t reject(struct rtmp_session *s, const struct rtmp_command *c, err_t why)
{
    struct wr out, body;
    err_t err;

    wr_init(&out, RTMP_REPLY_MAX);
    wr_init(&body, RTMP_REPLY_MAX);
    rtmp_reply_error(&body, c->transaction, RTMP_CONNECT_REJECTED, NULL);
    rtmp_conn_put(&s->conn, &out, RTMP_COMMAND, 0, &body);
    wr_free(&body);
    err = rtmp_conn_send_all(&s->conn, &out);
    err_free(&err);
    return why;
}

/* It may take its time: that is not the client's. */
static err_t ask_backend(struct rtmp_session *s, const struct rtmp_url *url)
{
    const struct session_stream names = {
        .vhost = s->vhost->name, .app = url->app, .name = url->stream, .param = url->param,
        .tc_url = s->tc_url ? s->tc_url : "", .page_url = s->page_url ? s->page_url : "",
        .ip = s->ip, .swf_url = s->swf_url,
    };
    err_t err = rtmp_session_ask(s, HOOKS_CONNECT, &names);

    s->connected = !err;
    rtmp_session_deadline(s, s->conf->limits.handshake_timeout, "handshake and connect");
    return err;
}

static err_t on_connect(struct rtmp_session *s, const struct rtmp_command *c)
{
    struct rtmp_connect connect;
    struct rtmp_url url;
    err_t err;

    if (c->id != RTMP_CMD_CONNECT)
        return err_new(ERR_RTMP_CONNECT, "the first command is %.32s", c->name);
    err = rtmp_connect_parse(&connect, c);
    if (!err)
        err = rtmp_url_resolve(&url, connect.tc_url, NULL);
    if (err)
        return reject(s, c, err);
    s->tc_url = copy(connect.tc_url);
    s->page_url = copy(connect.page_url);
    s->swf_url = copy(connect.swf_url);
    log_trace("connect app, tcUrl=%.256s, pageUrl=%.256s, swfUrl=%.256s, schema=%s, vhost=%s, "
              "port=%d, app=%s, args=%s", connect.tc_url, connect.page_url, connect.swf_url,
              url.schema, url.vhost, url.port, url.app, connect.extra ? "(obj)" : "null");
    err = rtmp_session_find_vhost(s, url.vhost);
    if (!err)
        err = ask_backend(s, &url);
    rtmp_url_free(&url);
    if (err)
        return reject(s, c, err);
    if (s->vhost->in_ack_size > 0)
        rtmp_conn_force_window(&s->conn, (uint32_t)s->vhost->in_ack_size);
    return welcome(s, c, &connect);
}

err_t rtmp_session_accept(struct rtmp_session *s)
{
    struct rtmp_command c = { 0 };
    err_t err = rtmp_handshake_server(s->io);

    rtmp_conn_init(&s->conn, s->io, &s->setup);
    rtmp_session_may_send(s, false);
    if (err)
        return err;
    err = read_command(s, &c);
    if (!err)
        err = on_connect(s, &c);
    rtmp_command_free(&c);
    co_stack_trim();
    return err ? err_wrap(err, "connect") : NULL;
}
