/* SPDX-License-Identifier: MIT */
/* session.c - the life of one RTMP client: phases, deadlines, end. */
#include "serve/rtmp/session.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "intake/rtmp.h"
#include "session/move.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUICK_READS = 24
}; /* reads with quick ACKs before media flow: many clients send each command in
    * its own packet */

static const struct tcp_ops ops;

static struct rtmp_session *session_new(struct session_env *env, struct io *io, const char *ip)
{
    struct rtmp_session *s = must(calloc(1, sizeof(*s)));
    const struct conf_limits *limits = &env->conf->limits;

    session_init(&s->base, env, io);
    tcp_conn_init(&s->tcp, &ops, env, &s->base.io);
    (void)snprintf(s->tcp.ip, sizeof(s->tcp.ip), "%s", ip);
    s->base.names = (struct session_stream){ .vhost = "", .app = "", .name = "", .param = "",
                                             .tc_url = "", .page_url = "", .ip = s->tcp.ip };
    s->setup = (struct rtmp_in_setup){
        .alloc = rtmp_intake_alloc,
        .grow = rtmp_intake_grow,
        .release = rtmp_intake_release,
        .max_message_size = (uint32_t)limits->max_message_size,
        .max_data_size = (uint32_t)limits->max_metadata_size,
        .max_command_size = (uint32_t)limits->max_command_size,
        .max_chunk_streams = (uint32_t)limits->max_chunk_streams,
        .pool = env->messages,
    };
    rtmp_session_set_limits(s, false);
    return s;
}

static struct rtmp_session *session_of(struct tcp_conn *c)
{
    return container_of(c, struct rtmp_session, tcp);
}

static struct tcp_conn *create(struct session_env *env, struct io *io,
                               const struct protocol_accepted *accepted)
{
    (void)accepted;
    io_tcp_quick_acks(io, QUICK_READS);
    return &session_new(env, io, "")->tcp;
}

static void free_session(struct tcp_conn *c)
{
    struct rtmp_session *s = session_of(c);

    co_deadline_cancel(&s->deadline);
    rtmp_conn_fini(&s->conn);
    rtmp_file_close(s);
    rtmp_url_free(&s->url);
    tcp_conn_fini(c);
    session_fini(&s->base);
    free(s->connect_text);
    free(s);
}

static err_t quiesce(struct rtmp_session *s)
{
    err_t err = NULL;

    rtmp_session_suspend_deadlines(s);
    if (rtmp_conn_has_replies(&s->conn))
        err = rtmp_conn_flush(&s->conn);
    if (!err)
        err = hooks_line_rest(&s->base.line, s->base.vhost);
    return err ? err : co_check();
}

/* Sets tcp.move_to, and the role for that worker, if another worker must serve the stream. Returns
 * NULL without setting it if the client stays here. Yields. */
static err_t choose_worker(struct rtmp_session *s, enum rtmp_role role)
{
    unsigned to;
    err_t err;

    if (s->base.on_demand) /* every worker has the files */
        return NULL;
    rtmp_file_close(s);
    to = session_goes_to(&s->base, role == RTMP_ROLE_PUBLISH);
    if (to == s->base.env->worker)
        return NULL;
    err = quiesce(s);
    s->requested = role;
    s->tcp.move_to = err ? -1 : (int)to;
    return err;
}

static err_t serve(struct rtmp_session *s, enum rtmp_role role)
{
    if (role == RTMP_ROLE_PUBLISH)
        return rtmp_session_publish(s);
    return s->base.on_demand ? rtmp_session_play_file(s) : rtmp_session_play(s);
}

/* Reads a request and serves it, repeatedly, until the client ends or must move to another
 * worker. */
static err_t serve_requests(struct rtmp_session *s)
{
    err_t err = NULL;

    while (!err && s->tcp.move_to < 0) {
        enum rtmp_role role;

        co_log_as(LOG_UNTRUSTED);
        co_deadline_set(&s->deadline, s->base.conf->limits.idle_timeout, ERR_IO_TIMEOUT,
                        "no publish or play");
        err = rtmp_session_request(s, &role);
        if (!err)
            err = choose_worker(s, role);
        if (!err && s->tcp.move_to < 0)
            err = serve(s, role);
    }
    return err;
}

static err_t serve_client(struct rtmp_session *s)
{
    err_t err;

    co_deadline_set(&s->deadline, s->base.conf->limits.handshake_timeout, ERR_IO_TIMEOUT,
                    "no handshake and connect");
    err = tcp_conn_secure(&s->tcp, s->base.conf->limits.handshake_timeout);
    s->base.io->write_timeout = s->base.conf->rtmp.send_timeout;
    if (!err)
        err = rtmp_session_connect(s);
    return err ? err : serve_requests(s);
}

static void notify_closed(struct rtmp_session *s)
{
    if (s->connected)
        session_notify(&s->base, HOOKS_CLOSE);
}

static err_t run(struct rtmp_session *s)
{
    err_t err;

    session_begin(&s->base);
    err = serve_client(s);
    if (err || s->tcp.move_to < 0)
        notify_closed(s);
    return err;
}

static err_t run_client(struct tcp_conn *c)
{
    struct rtmp_session *s = session_of(c);

    log_trace("RTMP%s client ip=%s:%d, fd=%d", c->tls ? "S" : "", c->ip, c->port,
              io_tcp_fd(s->base.io));
    return run(s);
}

static void detach(struct tcp_conn *c)
{
    rtmp_conn_detach(&session_of(c)->conn);
}

static void arrive(struct tcp_conn *c)
{
    struct rtmp_session *s = session_of(c);

    s->base.env = c->env;
    s->base.generation = s->base.env->generation - 1; /* so that the snapshot of this worker is
                                                       * applied next */
    s->setup.pool = s->base.env->messages;
}

static err_t resume(struct tcp_conn *c)
{
    struct rtmp_session *s = session_of(c);
    bool changed;
    err_t err;

    s->base.co = co_self();
    rtmp_conn_attach(&s->conn);
    err = session_apply(&s->base, &changed);
    if (!err)
        err = serve(s, s->requested);
    if (!err)
        err = serve_requests(s);
    if (err || c->move_to < 0)
        notify_closed(s);
    return err;
}

static void end(struct tcp_conn *c, err_t err)
{
    session_log_end(&session_of(c)->base, &err);
    free_session(c);
}

static const struct tcp_ops ops = {
    .name = "rtmp", .secure = "rtmps", .create = create, .run = run_client, .detach = detach,
    .arrive = arrive, .resume = resume, .end = end, .free = free_session,
};

err_t rtmp_accept(struct session_env *env, const struct protocol_accepted *accepted,
                  struct address_slot *slot)
{
    return tcp_accept(&ops, env, accepted, slot);
}

err_t rtmp_session_run(struct session_env *env, struct io *io, const char *ip)
{
    struct rtmp_session *s = session_new(env, io, ip);
    err_t err = run(s);

    free_session(&s->tcp);
    return err;
}
