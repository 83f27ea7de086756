/* SPDX-License-Identifier: MIT */
/* client.c - what the server's lists and a backend know of an RTMP client. */
#include "base/container_of.h"
#include "serve/rtmp/session.h"
#include "session/admit.h"
#include "session/place.h"

static struct rtmp_session *session_of(struct client *c)
{
    return container_of(c, struct rtmp_session, who);
}

static void describe(struct client *c, struct clients_info *out)
{
    struct rtmp_session *s = session_of(c);
    co_usec now = co_clock();

    kbps_sample(&s->in_kbps, s->io->bytes_in, now);
    kbps_sample(&s->out_kbps, s->io->bytes_out, now);
    *out = (struct clients_info){
        .ip = s->ip, .tc_url = s->tc_url ? s->tc_url : "",
        .page_url = s->page_url ? s->page_url : "", .swf_url = s->swf_url ? s->swf_url : "",
        .began_at = s->began_at, .in = s->io->bytes_in, .out = s->io->bytes_out,
        .in_kbps = s->in_kbps.s30_kbps, .out_kbps = s->out_kbps.s30_kbps,
    };
}

static void kick(struct client *c)
{
    struct rtmp_session *s = session_of(c);

    s->kicked = true;
    co_stop(s->co, NULL);
}

static const struct clients_kind kind = { describe, kick };

struct session_stream rtmp_session_names(const struct rtmp_session *s)
{
    return (struct session_stream){
        .vhost = s->vhost->name, .app = s->url.app, .name = s->url.stream,
        .param = s->url.param, .tc_url = s->tc_url ? s->tc_url : "",
        .page_url = s->page_url ? s->page_url : "", .ip = s->ip, .swf_url = s->swf_url,
    };
}

void rtmp_session_wait(struct rtmp_session *s, enum clients_type type, struct live_source *src)
{
    struct session_stream names = rtmp_session_names(s);

    clients_wait(s->env->clients, &s->who, &kind, type, NULL, &names, src);
}

void rtmp_session_enter(struct rtmp_session *s)
{
    struct session_stream names = rtmp_session_names(s);

    clients_admit(&s->who, &names);
    session_log_as_client(s->env, s->ip);
}

void rtmp_session_leave(struct rtmp_session *s, err_t why)
{
    clients_leave(&s->who, s->io->bytes_in, s->io->bytes_out, why);
}

void rtmp_session_count(struct rtmp_session *s, co_usec now)
{
    kbps_sample(&s->in_kbps, s->io->bytes_in, now);
    kbps_sample(&s->out_kbps, s->io->bytes_out, now);
    clients_count(&s->who, s->io->bytes_in, s->io->bytes_out);
}

/* ---- callbacks */

static unsigned clients_of(const struct rtmp_session *s)
{
    const struct client *c = &s->who;

    return c->stream ? c->stream->clients + !c->admitted : 0; /* itself, if it is let in */
}

err_t rtmp_session_ask(struct rtmp_session *s, enum hooks_action action,
                       const struct session_stream *names)
{
    const struct hooks_event event = { .names = names, .clients = clients_of(s) };
    err_t err;

    rtmp_session_deadline(s, 0, NULL);
    rtmp_conn_hold(&s->conn);
    err = hooks_ask(s->env, &s->line, s->vhost, action, &event);
    rtmp_conn_go_on(&s->conn);
    return err;
}

err_t rtmp_session_ask_play(struct rtmp_session *s, const struct session_stream *names,
                            int64_t *ends)
{
    const struct hooks_event event = { .names = names, .clients = clients_of(s) };

    rtmp_session_deadline(s, 0, NULL);
    return session_ask_play(s->env, &s->line, s->vhost, &event, ends);
}

static void tell(struct rtmp_session *s, enum hooks_action action,
                 const struct session_stream *names)
{
    const struct hooks_event event = { .names = names, .clients = clients_of(s),
                                       .in = s->io->bytes_in, .out = s->io->bytes_out };

    hooks_notify(s->env, &s->line, s->conf, s->vhost, action, &event);
}

/* It may have gone before it named a stream: then the app is that of its connect. */
static void notify_closed(struct rtmp_session *s)
{
    struct session_stream names = rtmp_session_names(s);
    struct rtmp_url url = { 0 };
    err_t err = NULL;

    if (!s->url.app) {
        err = rtmp_url_resolve(&url, names.tc_url, NULL);
        names.app = url.app ? url.app : "";
        names.name = names.param = "";
    }
    tell(s, HOOKS_CLOSE, &names);
    err_free(&err);
    rtmp_url_free(&url);
}

void rtmp_session_notify(struct rtmp_session *s, enum hooks_action action)
{
    struct session_stream names;

    if (action == HOOKS_CLOSE) {
        notify_closed(s);
        return;
    }
    names = rtmp_session_names(s);
    tell(s, action, &names);
}
