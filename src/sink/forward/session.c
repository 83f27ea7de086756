/* SPDX-License-Identifier: MIT */
/* session.c - one stream to one destination, again and again while the stream is live. */
#include "sink/forward/session.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "co/net/dns.h"
#include "co/net/io_tls.h"
#include "proto/rtmp/client.h"
#include "proto/rtmp/command.h"
#include "wire/rtmp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long a destination may take to answer, or to take any bytes; to take the stream, however
 * often it says something else; and the pauses before it is called again: doubled each time, from
 * the first to the longest. */
#define ANSWER CO_SECONDS(5)
#define READY CO_SECONDS(12)
#define FIRST_PAUSE CO_SECONDS(1)
#define LONGEST_PAUSE CO_SECONDS(10)

/* Taken at once when a message of a destination begins: all that they have to say is short. */
enum { AT_ONCE = 1024 };

static char *make_url(const struct conf_endpoint *to, const struct session_stream *n)
{
    bool v6 = strchr(to->host, ':') != NULL;
    bool named = strcmp(n->vhost, "__defaultVhost__") != 0;

    return must_print("%s://%s%s%s:%d/%s/%s%s%s%s", to->tls ? "rtmps" : "rtmp", v6 ? "[" : "",
                      to->host, v6 ? "]" : "", to->port, n->app, n->name, n->param,
                      !named ? "" : n->param[0] ? "&vhost=" : "?vhost=", named ? n->vhost : "");
}

static struct forward *new_one(struct session_env *env, const char *host, int port, bool tls,
                               const char *vhost, struct live_source *src)
{
    struct forward *f = must(calloc(1, sizeof(*f)));

    f->env = env;
    f->host = must_dup(host);
    f->port = port;
    f->tls = tls;
    f->src = live_source_ref(src);
    f->conf = conf_ref(env->conf);
    f->vhost = conf_vhost_find(f->conf, vhost);
    return f;
}

struct forward *forward_new(struct session_env *env, const struct conf_endpoint *to,
                            const struct session_stream *names, struct live_source *src)
{
    struct forward *f = new_one(env, to->host, to->port, to->tls, names->vhost, src);

    f->url = make_url(to, names);
    return f;
}

err_t forward_new_url(struct forward **out, struct session_env *env, const char *url,
                      const struct session_stream *names, struct live_source *src)
{
    struct rtmp_url u;
    err_t err = rtmp_url_parse(&u, url);
    bool tls = !err && strcmp(u.schema, "rtmps") == 0;

    if (err)
        return err;
    if ((!tls && strcmp(u.schema, "rtmp") != 0) || !*u.stream) {
        err = err_new(ERR_RTMP_CONNECT, "\"%.80s\" is no rtmp://host/app/stream", url);
    } else {
        *out = new_one(env, u.host, u.port, tls, names->vhost, src);
        (*out)->url = must_dup(url);
        (*out)->asked = true;
    }
    rtmp_url_free(&u);
    return err;
}

void forward_free(struct forward *f)
{
    (void)live_source_unref(f->src);
    (void)conf_unref(f->conf);
    free(f->host);
    free(f->url);
    free(f);
}

void forward_end(struct forward *f)
{
    f->ending = true;
    if (f->co)
        co_stop(f->co, NULL);
}

/* Servers say little while they are published to; a refusal ends it. */
static err_t on_message(const struct rtmp_msg *msg)
{
    struct rtmp_command c = { 0 };
    const char *level, *code;
    err_t err;

    if (msg->type != RTMP_COMMAND && msg->type != RTMP_COMMAND_AMF3)
        return NULL;
    err = rtmp_command_parse(&c, msg);
    if (err)
        return err;
    level = amf_get_string(&c.args[1], "level", "");
    code = amf_get_string(&c.args[1], "code", "");
    if (c.id == RTMP_CMD_ON_STATUS && strcmp(level, "error") == 0)
        err = err_new(ERR_RTMP_REJECTED, "%.64s", code);
    rtmp_command_free(&c);
    return err;
}

static err_t on_readable(void *arg)
{
    struct forward *f = arg;
    struct rtmp_msg msg;
    err_t err = rtmp_conn_poll(&f->conn);

    while (!err && rtmp_conn_pop(&f->conn, &msg)) {
        err = on_message(&msg);
        rtmp_conn_release(&f->conn, &msg);
        co_yield_if_due();
    }
    if (!err && rtmp_conn_owes(&f->conn))
        err = rtmp_conn_flush(&f->conn);
    return err;
}

static err_t on_turn(void *arg)
{
    struct forward *f = arg;
    uint64_t dropped = f->sender.consumer.dropped - f->dropped;
    co_usec now = co_now();

    if (dropped > 0) {
        log_warn("slow destination %s: %llu packets left out, it goes on at a key frame", f->url,
                 (unsigned long long)dropped);
        f->dropped = f->sender.consumer.dropped;
    }
    kbps_sample(&f->in_kbps, f->io->bytes_in, now);
    kbps_sample(&f->out_kbps, f->io->bytes_out, now);
    clients_count(&f->who, f->io->bytes_in, f->io->bytes_out);
    if (sampled_due(&f->env->sampled, SAMPLED_FORWARD, now, f->conf->sampled_print))
        log_trace("%s time=%lld, msgs=%llu, okbps=" KBPS_FMT ", ikbps=" KBPS_FMT ", to=%s",
                  sampled_name(SAMPLED_FORWARD), (long long)(now - f->began_at) / 1000,
                  (unsigned long long)live_consumer_pending(&f->sender.consumer),
                  KBPS_ARGS(&f->out_kbps), KBPS_ARGS(&f->in_kbps), f->url);
    return NULL;
}

/* ---- what the server's lists know of it */

static struct forward *forward_of(struct client *c)
{
    return container_of(c, struct forward, who);
}

static void describe(struct client *c, struct clients_info *out)
{
    struct forward *f = forward_of(c);

    *out = (struct clients_info){
        .ip = f->host, .tc_url = f->url, .page_url = "", .swf_url = "", .began_at = f->began_at,
        .in = f->io->bytes_in, .out = f->io->bytes_out, .in_kbps = f->in_kbps.s30_kbps,
        .out_kbps = f->out_kbps.s30_kbps,
    };
}

/* It is called again as after any failure: what is wanted for good is in the configuration. */
static void kick(struct client *c)
{
    struct forward *f = forward_of(c);

    f->kicked = f->sender.done = true;
    co_unpark(f->co);
}

static const struct clients_kind listed = { describe, kick };

static err_t send_listed(struct forward *f)
{
    err_t err;

    clients_enter(f->env->clients, &f->who, &listed, CLIENTS_FORWARD, f->id, NULL, f->src);
    err = live_sender_run(&f->sender);
    if (!err && f->kicked)
        err = err_new(ERR_KICKED, "%s", f->host);
    clients_leave(&f->who, f->io->bytes_in, f->io->bytes_out, err);
    f->kicked = false;
    return err;
}

static err_t send_stream(struct forward *f, const struct rtmp_url *url, uint32_t stream_id)
{
    const uint32_t param[LIVE_PARAMS] = {
        [RTMP_WIRE_CHUNK_SIZE] = f->conn.out_chunk_size,
        [RTMP_WIRE_STREAM_ID] = stream_id,
    };
    co_usec latency = f->vhost->play.mw_latency;
    err_t err, bye = NULL;

    if (latency == CONF_AUTO)
        latency = LIVE_MW_AUTO;
    log_trace("forward to %s: publishing", f->url);
    f->began_at = co_now();
    f->dropped = 0;
    kbps_init(&f->in_kbps, f->io->bytes_in, f->began_at);
    kbps_init(&f->out_kbps, f->io->bytes_out, f->began_at);
    f->sender = (struct live_sender){
        .io = f->io, .arg = f, .on_readable = on_readable, .on_turn = on_turn,
        .look_every = f->conf->sampled_print / 2,
        .set = { .mw_latency = latency, .mw_msgs = (unsigned)f->vhost->play.mw_msgs },
    };
    live_consumer_open(&f->sender.consumer, f->src, &rtmp_wire, param);
    err = send_listed(f);
    if (f->ending) {
        live_sender_flush(&f->sender);
        bye = rtmp_client_unpublish(&f->conn, url, stream_id);
        err_free(&bye); /* a destination that does not hear it sees the connection close */
    }
    live_consumer_close(&f->sender.consumer);
    return err;
}

/* Who takes a stream has little to say: it gets the memory and the time of a player. */
static void bound(struct forward *f)
{
    const struct conf_limits *limits = &f->conf->limits;
    struct session_env *env = f->env;
    uint32_t command = (uint32_t)limits->max_command_size;
    uint32_t all = (uint32_t)limits->max_partial_others;

    f->setup = rtmp_in_heap;
    f->setup.max_command_size = f->setup.max_data_size = f->setup.max_message_size = command;
    f->setup.max_inflight = all > command ? all : command; /* one of them must fit */
    f->setup.at_once = AT_ONCE;
    f->setup.pool = env->messages.limit ? &env->messages : NULL;
}

static void on_late(struct co_timer *t)
{
    struct forward *f = container_of(t, struct forward, timer);

    f->late = true;
    co_stop(f->co, NULL);
}

/* What stopped the coroutine may have been meant for this one connection: another one follows. */
static err_t reason(struct forward *f, err_t err)
{
    bool late = f->late && err_code(err) == ERR_STOPPED;

    if (f->ending)
        return err;
    co_stop_forget();
    if (!late)
        return err;
    err_free(&err);
    return err_new(ERR_IO_TIMEOUT, "it did not take the stream in %lld s",
                   (long long)READY / 1000000);
}

static err_t ask_to_publish(struct forward *f, const struct rtmp_url *url, uint32_t *stream_id)
{
    err_t err = rtmp_client_connect(&f->conn, url, NULL);

    return err ? err : rtmp_client_publish(&f->conn, url, stream_id);
}

err_t forward_converse(struct forward *f)
{
    struct rtmp_url url;
    uint32_t stream_id = 0;
    err_t err = rtmp_url_parse(&url, f->url);

    if (err)
        return err;
    bound(f);
    rtmp_conn_init(&f->conn, f->io, &f->setup);
    f->conn.message_time = f->conf->limits.message_timeout;
    co_timer_set(&f->timer, co_now() + READY, on_late);
    err = ask_to_publish(f, &url, &stream_id);
    co_timer_cancel(&f->timer);
    co_stack_trim();
    if (!err && !f->late)
        err = send_stream(f, &url, stream_id);
    else if (!err)
        err = co_check(); /* it was late by a hair */
    err = reason(f, err);
    rtmp_conn_fini(&f->conn);
    rtmp_url_free(&url);
    return err;
}

static err_t forward_once(struct forward *f)
{
    const struct io_tls_trust trust = { .any = !f->vhost->forward.tls_verify,
                                        .ca = f->vhost->forward.tls_ca };
    err_t err;

    f->began_at = 0;
    f->late = false;
    err = co_dns_connect(&f->io, f->host, f->port, NULL, ANSWER);
    if (err)
        return err;
    f->io->read_timeout = ANSWER;
    f->io->write_timeout = ANSWER;
    if (f->tls)
        err = io_tls_connect(&f->io, f->host, &trust, ANSWER);
    if (!err)
        err = forward_converse(f);
    io_close(f->io);
    f->io = NULL;
    return err;
}

static void log_failed(struct forward *f, err_t *err, co_usec pause)
{
    char what[400];

    f->failures++;
    (void)err_text(*err, f->error, sizeof(f->error));
    (void)snprintf(what, sizeof(what), "forward to %.300s, again in %lld s", f->url,
                   (long long)pause / 1000000);
    log_end(what, err);
}

err_t forward_main(void *forward)
{
    struct forward *f = forward;
    co_usec pause = FIRST_PAUSE;
    char cid[9];
    err_t err = NULL;

    f->co = co_self();
    (void)snprintf(cid, sizeof(cid), "%s", co_cid()); /* its lines are its publisher's story */
    co_new_cid();
    (void)snprintf(f->id, sizeof(f->id), "%s", co_cid());
    co_set_cid(cid);
    log_trace("forward %s to %s: connecting", live_source_name(f->src), f->url);
    while (!f->ending && !(err = co_check())) {
        err = forward_once(f);
        if (f->ending)
            break;
        if (f->began_at && co_now() - f->began_at > LONGEST_PAUSE)
            pause = FIRST_PAUSE; /* it was well for a while */
        log_failed(f, &err, pause);
        err = co_sleep(pause);
        err_free(&err);
        pause = pause * 2 < LONGEST_PAUSE ? pause * 2 : LONGEST_PAUSE;
    }
    err_free(&err);
    log_trace("forward %s to %s: ended", live_source_name(f->src), f->url);
    forward_free(f);
    return NULL;
}
