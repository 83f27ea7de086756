/* SPDX-License-Identifier: MIT */
/* session.c - the life of one RTMP client: its phases, its deadlines, its end. */
#include "serve/rtmp/session.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "co/net/io_tls.h"
#include "serve/rtmp/media.h"
#include "session/place.h"
#include "session/remote.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { TALK = 24 }; /* reads until media flow, of clients that send each command by itself */

/* What is taken for a message when it begins: most commands, most frames. */
enum { COMMAND_AT_ONCE = 1024, FRAME_AT_ONCE = 64 * 1024 };

static struct rtmp_session *session_new(struct session_env *env, struct io *io)
{
    struct rtmp_session *s = must(calloc(1, sizeof(*s)));
    const struct conf_limits *limits = &env->conf->limits;

    s->env = env;
    s->io = io;
    s->conf = conf_ref(env->conf);
    s->generation = env->generation;
    s->setup = (struct rtmp_in_setup){
        .alloc = rtmp_media_alloc,
        .grow = rtmp_media_grow,
        .release = rtmp_media_release,
        .max_message_size = (uint32_t)limits->max_message_size,
        .max_data_size = (uint32_t)limits->max_metadata_size,
        .max_command_size = (uint32_t)limits->max_command_size,
        .max_chunk_streams = (uint32_t)limits->max_chunk_streams,
        .pool = env->messages.limit ? &env->messages : NULL,
    };
    rtmp_session_may_send(s, false);
    return s;
}

err_t rtmp_session_new(struct rtmp_session **out, struct session_env *env, int fd, bool proxied,
                       struct io_tls_server *tls)
{
    int on = 1;
    struct io *io;
    err_t err = io_tcp_open(&io, fd);

    if (err)
        return err;
    /* A peer whose machine died says nothing: the kernel asks it now and then. */
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    io_tcp_nodelay(io, true); /* answers go out at once, until media make it the vhost's choice */
    io_tcp_quick_acks(io, TALK);
    *out = session_new(env, io);
    (*out)->proxied = proxied;
    (*out)->tls = tls ? io_tls_server_ref(tls) : NULL;
    return NULL;
}

struct peers_place *rtmp_session_place(struct rtmp_session *s)
{
    return &s->place;
}

void rtmp_session_free(struct rtmp_session *s)
{
    session_place_leave(&s->place);
    co_timer_cancel(&s->timer);
    rtmp_conn_fini(&s->conn);
    rtmp_url_free(&s->url);
    (void)conf_unref(s->conf);
    io_close(s->io);
    (void)io_tls_server_unref(s->tls);
    free(s->tc_url);
    free(s->page_url);
    free(s->swf_url);
    hooks_line_end(&s->line);
    free(s);
}

void rtmp_session_may_send(struct rtmp_session *s, bool publishes)
{
    const struct conf_limits *limits = &s->conf->limits;
    int64_t others = limits->max_partial_others;

    if (others < limits->max_command_size) /* one of them must fit */
        others = limits->max_command_size;
    s->setup.max_inflight = (size_t)(publishes ? limits->max_partial_size : others);
    s->setup.at_once = publishes ? FRAME_AT_ONCE : COMMAND_AT_ONCE;
    s->conn.message_time = limits->message_timeout;
    s->conn.small_reads = !publishes;
}

static void on_deadline(struct co_timer *t)
{
    struct rtmp_session *s = container_of(t, struct rtmp_session, timer);

    co_stop(s->co, NULL); /* s->late tells why */
}

void rtmp_session_deadline(struct rtmp_session *s, co_usec t, const char *late)
{
    co_timer_cancel(&s->timer);
    s->late = late;
    if (t > 0)
        co_timer_set(&s->timer, co_now() + t, on_deadline);
}

err_t rtmp_session_find_vhost(struct rtmp_session *s, const char *name)
{
    struct conf *conf = conf_ref(s->env->conf);
    const struct conf_vhost *vhost = conf_vhost_find(conf, name);

    s->generation = s->env->generation;
    if (!vhost) { /* who is in ends by what it began with */
        (void)conf_unref(conf);
        return err_new(ERR_NO_VHOST, "\"%s\", and there is no __defaultVhost__", name);
    }
    (void)conf_unref(s->conf);
    s->conf = conf;
    s->vhost = vhost;
    if (!s->vhost->enabled)
        return err_new(ERR_VHOST_DISABLED, "%s", s->vhost->name);
    return NULL;
}

err_t rtmp_session_apply(struct rtmp_session *s, bool *changed)
{
    err_t err;

    *changed = s->generation != s->env->generation;
    if (!*changed)
        return NULL;
    err = rtmp_session_find_vhost(s, s->url.vhost);
    return err ? err_wrap(err, "the configuration changed") : NULL;
}

err_t rtmp_session_allowed(struct rtmp_session *s, enum conf_action what)
{
    err_t err = conf_security_check(&s->vhost->security, what, s->ip);

    if (!err)
        err = conf_refer_check(&s->vhost->refer, what, s->page_url ? s->page_url : "");
    return err;
}

char *rtmp_session_stream_name(const struct rtmp_session *s)
{
    const char *vhost = s->vhost->name;
    size_t size = strlen(vhost) + strlen(s->url.app) + strlen(s->url.stream) + 3;
    char *name = must(malloc(size));

    (void)snprintf(name, size, "%s/%s/%s", vhost, s->url.app, s->url.stream);
    return name;
}

static err_t serve_client(struct rtmp_session *s)
{
    err_t err = NULL;

    rtmp_session_deadline(s, s->conf->limits.handshake_timeout, "handshake and connect");
    if (s->tls)
        err = io_tls_accept(&s->io, s->tls, s->conf->limits.handshake_timeout);
    s->io->write_timeout = s->conf->rtmp.send_timeout;
    if (!err)
        err = rtmp_session_accept(s);
    while (!err) {
        enum rtmp_want want;

        co_log_as(LOG_STRANGER);
        rtmp_session_deadline(s, s->conf->limits.idle_timeout, "publish or play");
        err = rtmp_session_identify(s, &want);
        if (!err)
            err = want == RTMP_WANT_PUBLISH ? rtmp_session_publish(s) : rtmp_session_play(s);
    }
    return err;
}

/* Why it really ended: a coroutine that was stopped because a phase took too long was not asked
 * to stop by anybody else. */
static err_t reason(struct rtmp_session *s, err_t err)
{
    if (s->late && !s->timer.prev && err_code(err) == ERR_STOPPED) {
        err_free(&err);
        err = err_new(ERR_IO_TIMEOUT, "no %s in time", s->late);
    } else if (s->kicked && err_code(err) == ERR_STOPPED) {
        err_free(&err);
        err = err_new(ERR_KICKED, "%s", s->ip);
    }
    return err;
}

static err_t run(struct rtmp_session *s)
{
    err_t err;

    s->co = co_self();
    s->began_at = co_now();
    kbps_init(&s->in_kbps, 0, s->began_at);
    kbps_init(&s->out_kbps, 0, s->began_at);
    err = reason(s, serve_client(s));
    if (s->connected)
        rtmp_session_notify(s, HOOKS_CLOSE);
    return err;
}

err_t rtmp_session_main(void *session)
{
    struct rtmp_session *s = session;
    err_t err;

    co_new_cid();
    co_log_as(LOG_STRANGER);
    err = session_remote(s->env, s->io, s->proxied, &s->place, s->ip, &s->port);
    if (!s->ip[0] && s->conf->empty_ip_ok) { /* a load balancer looked whether we are there */
        rtmp_session_free(s);
        return NULL;
    }
    if (!err) {
        log_trace("RTMP%s client ip=%s:%d, fd=%d", s->tls ? "S" : "", s->ip, s->port,
                  io_tcp_fd(s->io));
        err = run(s);
    }
    log_end("client finished", &err);
    rtmp_session_free(s);
    return NULL;
}

err_t rtmp_session_run(struct session_env *env, struct io *io, const char *ip)
{
    struct rtmp_session *s = session_new(env, io);
    err_t err;

    (void)snprintf(s->ip, sizeof(s->ip), "%s", ip);
    err = run(s);
    rtmp_session_free(s);
    return err;
}
