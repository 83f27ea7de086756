/* SPDX-License-Identifier: MIT */
/* connect.c - handshake and connect. */
#include "base/log.h"
#include "base/must.h"
#include "proto/rtmp/handshake.h"
#include "serve/rtmp/session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads until a command arrives and ignores all other messages. */
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

static err_t reply_connect(struct rtmp_session *s, const struct rtmp_command *c,
                           const struct rtmp_connect *connect)
{
    const struct conf_vhost *vhost = s->base.vhost;
    uint32_t window = (uint32_t)vhost->out_ack_size;
    const struct rtmp_reply_server us = { s->base.env->signature, s->base.env->version, getpid(),
                                      co_cid() };
    struct rtmp_batch b;

    rtmp_batch_begin(&b, s);
    if (window > 0)
        rtmp_conn_put_u32(&s->conn, &b.out, RTMP_WINDOW_ACK_SIZE, window);
    rtmp_conn_put_bandwidth(&s->conn, &b.out, window > 0 ? window : 2500000, RTMP_LIMIT_DYNAMIC);
    rtmp_conn_put_chunk_size(&s->conn, &b.out, (uint32_t)vhost->chunk_size);
    rtmp_reply_connect(&b.body, c->transaction, connect->object_encoding, connect->enhanced, &us);
    rtmp_batch_put(&b, RTMP_COMMAND, 0);
    rtmp_reply_bw_done(&b.body);
    rtmp_batch_put(&b, RTMP_COMMAND, 0);
    return rtmp_batch_send(&b);
}

/* Sends the client an error before the connection is dropped; it may have closed already. Returns
 * `why`. */
static err_t reject(struct rtmp_session *s, const struct rtmp_command *c, err_t why)
{
    struct rtmp_batch b;
    err_t err;

    rtmp_batch_begin(&b, s);
    rtmp_reply_error(&b.body, c->transaction, RTMP_CONNECT_REJECTED, NULL);
    rtmp_batch_put(&b, RTMP_COMMAND, 0);
    err = rtmp_batch_send(&b);
    err_free(&err);
    return why;
}

/* The time that the backend takes does not count against the client's deadline. */
static err_t call_backend(struct rtmp_session *s)
{
    err_t err;

    rtmp_session_suspend_deadlines(s);
    err = session_ask(&s->base, HOOKS_CONNECT);
    rtmp_session_resume_deadlines(s);
    s->connected = !err;
    co_deadline_set(&s->deadline, s->base.conf->limits.handshake_timeout, ERR_IO_TIMEOUT,
                    "no connect");
    return err;
}

/* Stores tcUrl, pageUrl and swfUrl in one allocation, each with a '\0' at its end. */
static void store_names(struct rtmp_session *s, const struct rtmp_connect *c)
{
    struct session_stream *names = &s->base.names;

    s->connect_text = must_print("%s%c%s%c%s", c->tc_url, '\0', c->page_url, '\0', c->swf_url);
    names->tc_url = s->connect_text;
    names->page_url = names->tc_url + strlen(names->tc_url) + 1;
    names->swf_url = names->page_url + strlen(names->page_url) + 1;
    s->opus = c->opus;
}

/* An edge sends the connection id of its own log. Logged here, it links the two logs. */
static void log_edge(const struct amf_value *extra)
{
    double pid = extra ? amf_get_number(extra, "srs_pid", 0) : 0;

    if (pid > 0)
        log_trace("edge-srs ip=%.64s, version=%.64s, pid=%.0f, id=%.64s",
                  amf_get_string(extra, "srs_server_ip", ""),
                  amf_get_string(extra, "srs_version", ""), pid,
                  amf_get_string(extra, "srs_id", ""));
}

static err_t on_connect(struct rtmp_session *s, const struct rtmp_command *c)
{
    const struct rtmp_url *url = &s->url;
    struct rtmp_connect connect;
    err_t err;

    if (c->id != RTMP_CMD_CONNECT)
        return err_new(ERR_RTMP_CONNECT, "the first command is %.32s", c->name);
    err = rtmp_connect_parse(&connect, c);
    if (!err) {
        store_names(s, &connect);
        err = rtmp_session_resolve(s, NULL);
    }
    if (err)
        return reject(s, c, err);
    log_trace("connect app, tcUrl=%.256s, pageUrl=%.256s, swfUrl=%.256s, schema=%s, vhost=%s, "
              "port=%d, app=%s, args=%s", connect.tc_url, connect.page_url, connect.swf_url,
              url->schema, url->vhost, url->port, url->app, connect.extra ? "(obj)" : "null");
    log_edge(connect.extra);
    err = session_find_stream(&s->base, url->vhost, url->app, url->stream);
    if (!err)
        err = call_backend(s);
    if (err)
        return reject(s, c, err);
    if (s->base.vhost->in_ack_size > 0)
        rtmp_conn_force_window(&s->conn, (uint32_t)s->base.vhost->in_ack_size);
    return reply_connect(s, c, &connect);
}

err_t rtmp_session_connect(struct rtmp_session *s)
{
    struct rtmp_command c = { 0 };
    err_t err = rtmp_handshake_server(s->base.io);

    rtmp_conn_init(&s->conn, s->base.io, &s->setup);
    rtmp_session_set_limits(s, false);
    if (err)
        return err;
    err = read_command(s, &c);
    if (!err)
        err = on_connect(s, &c);
    rtmp_command_free(&c);
    co_stack_trim();
    return err ? err_wrap(err, "connect") : NULL;
}
