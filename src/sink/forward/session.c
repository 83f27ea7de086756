/* SPDX-License-Identifier: MIT */
/* session.c - forwards a stream to one destination and reconnects while the stream is live. */
#include "sink/forward/session.h"

#include "base/container_of.h"
#include "base/list.h"
#include "base/log.h"
#include "base/log_clean.h"
#include "base/must.h"
#include "base/pace.h"
#include "base/random_id.h"
#include "base/units.h"
#include "co/co.h"
#include "co/net/dns.h"
#include "co/net/io_tls.h"
#include "conf/endpoint.h"
#include "proto/rtmp/client.h"
#include "proto/rtmp/command.h"
#include "wire/rtmp.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ANSWER is the timeout of a response and of a write, READY that of the whole publish request,
 * regardless of what the destination sends. Pauses between attempts double from the first to the
 * longest. */
#define ANSWER CO_SECONDS(5)
#define READY CO_SECONDS(12)
#define FIRST_PAUSE CO_SECONDS(1)
#define LONGEST_PAUSE CO_SECONDS(10)

/* AT_ONCE is the size of the first read of a message: destinations send short messages only. */
enum { AT_ONCE = 1024, RTMP_PORT = 1935 };

/* ---- log lines about failing destinations: a few per address, regardless of the number of streams
 * forwarded there. A destination is remembered while a forward that failed there exists. */

/* If a destination works for less than this time, its pauses keep growing. */
#define SHORT CO_SECONDS(30)

enum { KINDS = 8 };

static const int pauses[] = { 10, 30, 60, 120, 300, 600 }; /* seconds between log lines */
enum { PAUSES = sizeof(pauses) / sizeof(pauses[0]) };

struct forward_target {
    struct forward_target *next;
    unsigned users, waiting; /* forwards that have ever failed, and that are failing now */
    unsigned long tries;     /* failed attempts since it last worked */
    co_usec since;           /* start of the failure; 0: it works */
    co_usec worked_at;       /* when it last worked; 0: never */
    co_usec line_at;         /* earliest time of the next line about the same errors */
    int pause;               /* index of the next pause */
    int kinds[KINDS], n;     /* error codes that were logged */
    bool told;               /* the failure was logged, its end not yet */
    int port;
    char host[];
};

/* Content of a log line, copied under the lock, because logging may be slow. */
struct line {
    bool due;
    unsigned waiting;
    unsigned long tries;
    co_usec time; /* the next pause, or the duration of the failure */
};

static struct forward_target *targets;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *plural(unsigned long n)
{
    return n == 1 ? "" : "s";
}

/* Called under the lock, like all functions up to note_success(). */
static struct forward_target *get(const char *host, int port)
{
    size_t size = strlen(host) + 1;
    struct forward_target *t = targets;

    while (t && (t->port != port || strcmp(t->host, host) != 0))
        t = t->next;
    if (!t) {
        t = must(calloc(1, sizeof(*t) + size));
        memcpy(t->host, host, size);
        t->port = port;
        t->next = targets;
        targets = t;
    }
    t->users++;
    return t;
}

static void put(struct forward_target *t)
{
    if (--t->users > 0)
        return;
    LIST_CUT(&targets, t);
    free(t);
}

static void forget(struct forward_target *t)
{
    t->line_at = 0;
    t->pause = t->n = 0;
}

static bool is_new(struct forward_target *t, int code)
{
    for (int i = 0; i < t->n; i++) {
        if (t->kinds[i] == code)
            return false;
    }
    if (t->n == KINDS)
        return false;
    t->kinds[t->n++] = code;
    return true;
}

static void note_failure(struct forward_target *t, int code, struct line *line)
{
    co_usec now = co_now();
    bool new_kind;

    if (t->worked_at && now - t->worked_at >= SHORT)
        forget(t);
    t->worked_at = 0;
    if (!t->since)
        t->since = now;
    t->tries++;
    new_kind = is_new(t, code);
    line->due = new_kind || now >= t->line_at;
    if (!line->due)
        return;
    line->time = CO_SECONDS(pauses[t->pause]);
    if (t->pause < PAUSES - 1)
        t->pause++;
    t->line_at = now + line->time;
    t->told = true;
    line->waiting = t->waiting;
    line->tries = t->tries;
}

static void note_success(struct forward_target *t, struct line *line)
{
    co_usec now = co_now();

    line->due = t->told;
    line->waiting = t->waiting;
    line->tries = t->tries;
    line->time = t->since ? now - t->since : 0;
    if (line->time >= SHORT)
        forget(t);
    t->since = 0;
    t->tries = 0;
    t->worked_at = now;
    t->told = false;
}

/* ---- called by forwards */

static void target_failed(struct forward_at *at, const char *host, int port, err_t why)
{
    struct line line = { 0 };
    char text[400];

    (void)pthread_mutex_lock(&lock);
    if (!at->target)
        at->target = get(host, port);
    if (!at->waits)
        at->target->waiting++;
    at->waits = true;
    note_failure(at->target, err_code(why), &line);
    (void)pthread_mutex_unlock(&lock);
    if (line.due)
        log_warn("forward to %.253s:%d fails: %s; %u stream%s wait%s, %lu tr%s failed, next line "
                 "in %lld s", host, port, err_text(why, text, sizeof(text)), line.waiting,
                 plural(line.waiting), line.waiting == 1 ? "s" : "", line.tries,
                 line.tries == 1 ? "y" : "ies", us_to_s(line.time));
}

/* The forward publishes. Logs a line if the failure was logged. */
static void target_works(struct forward_at *at)
{
    struct forward_target *t = at->target;
    struct line line = { 0 };

    if (!at->waits)
        return;
    (void)pthread_mutex_lock(&lock);
    at->waits = false;
    t->waiting--;
    note_success(t, &line);
    (void)pthread_mutex_unlock(&lock);
    /* t stays valid, because this forward is one of its users. Host and port never change. */
    if (line.due)
        log_trace("forward to %.253s:%d works again after %lld s, %lu tr%s failed, %u more "
                  "stream%s wait%s", t->host, t->port, us_to_s(line.time), line.tries,
                  line.tries == 1 ? "y" : "ies", line.waiting, plural(line.waiting),
                  line.waiting == 1 ? "s" : "");
}

static void target_leave(struct forward_at *at)
{
    struct forward_target *t = at->target;

    if (!t)
        return;
    (void)pthread_mutex_lock(&lock);
    if (at->waits && --t->waiting == 0) { /* its state is unknown from now on */
        t->since = 0;
        t->tries = 0;
        t->told = false;
        t->worked_at = co_now();
    }
    put(t);
    (void)pthread_mutex_unlock(&lock);
    *at = (struct forward_at){ 0 };
}

/* ---- a forward */

struct forward *forward_new(struct session_env *env, const struct conf_endpoint *to,
                            const struct session_stream *names, struct live_source *src)
{
    struct forward *f = must(calloc(1, sizeof(*f)));
    struct session *s = &f->session;

    f->host = must_dup(to->host);
    f->port = to->port;
    f->scheme = to->scheme;
    f->tls = to->tls;
    f->of = to->url ? must_dup(to->url) : NULL;
    f->url = forward_url(to, names);
    f->public_name = forward_public_name(to);
    f->shown = log_hide_target(f->url, f->public_name);
    f->src = live_source_ref(src);
    session_init(s, env, NULL);
    s->vhost = conf_vhost_find(s->conf, names->vhost);
    s->names = (struct session_stream){ .param = "", .tc_url = f->shown, .page_url = "",
                                        .ip = f->host };
    session_stream_set_key(&s->names, session_stream_key(names));
    s->id = f->id;
    return f;
}

err_t forward_new_url(struct forward **out, struct session_env *env, const char *url,
                      const struct session_stream *names, struct live_source *src)
{
    struct conf_arena *a = conf_arena_new();
    struct conf_endpoint to;
    err_t err = conf_endpoint_host(a, url, RTMP_PORT, &to);

    if (!err) {
        *out = forward_new(env, &to, names, src);
        (*out)->asked = true;
    } else { /* not an error of the configuration */
        err_free(&err);
        err = err_new(ERR_RTMP_CONNECT,
                      "not a URL such as rtmp[s]://host/app/key, rtsp[s]://, srt:// or host:port");
    }
    conf_arena_free(a);
    return err;
}

void forward_free(struct forward *f)
{
    target_leave(&f->at);
    (void)live_source_unref(f->src);
    session_fini(&f->session);
    free(f->host);
    free(f->url);
    free(f->shown);
    free(f->of);
    free(f);
}

void forward_end(struct forward *f)
{
    f->ending = true;
    if (f->session.co)
        co_stop(f->session.co, NULL);
}

/* Handles messages of the destination while publishing; a refusal ends the forward. */
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

static err_t on_readable(struct session_player *player)
{
    struct forward *f = container_of(player, struct forward, player);
    struct rtmp_msg msg;
    err_t err = rtmp_conn_poll(&f->conn);

    while (!err && rtmp_conn_pop(&f->conn, &msg)) {
        err = on_message(&msg);
        rtmp_conn_release(&f->conn, &msg);
        co_yield_if_due();
    }
    if (!err && rtmp_conn_has_replies(&f->conn))
        err = rtmp_conn_flush(&f->conn);
    return err;
}

void forward_begin(struct forward *f)
{
    session_begin(&f->session);
    target_works(&f->at);
}

static void log_sample(const struct session_player *p, co_usec now)
{
    const struct session *s = p->s;

    log_trace("%s time=%lld, msgs=%llu, okbps=" KBPS_FMT ", ikbps=" KBPS_FMT ", to=%s",
              sampled_name(SAMPLED_FORWARD), us_to_ms(now - s->began_at),
              (unsigned long long)live_sender_pending(&p->sender),
              KBPS_ARGS(&s->out_kbps), KBPS_ARGS(&s->in_kbps), s->names.tc_url);
}

/* If the stream is still live, the destination has closed the connection. */
static err_t ended_by(const struct forward *f)
{
    return live_source_publishing(f->src)
               ? err_new(ERR_STOPPED, "the destination was removed")
               : err_new(ERR_STREAM_END, "the stream has no publisher");
}

void forward_log_did(struct forward *f, err_t why)
{
    err_t own = f->ending ? ended_by(f) : NULL;

    if (!own)
        forward_hide(f, why);
    session_log_did(&f->session, own ? own : why);
    err_free(&own);
}

err_t forward_send(struct forward *f, const struct live_format *wire,
                   const uint32_t param[LIVE_PARAMS],
                   err_t (*readable)(struct session_player *player),
                   void (*goodbye)(struct forward *f))
{
    const struct session_player_kind kind = {
        .type = CLIENTS_FORWARD, .sampled = SAMPLED_FORWARD, .on_readable = readable,
        .log_sample = log_sample, .what = "destination",
    };
    struct session_player *p = &f->player;
    err_t err;

    log_trace("forward to %s: publishing", f->shown);
    forward_begin(f);
    session_player_join(p, &f->session, &kind, f->src);
    session_player_open(p, wire, param);
    err = session_player_send(p);
    if (f->ending) {
        live_sender_flush(&p->sender);
        goodbye(f);
    }
    session_player_part(p, err);
    forward_log_did(f, err);
    return err;
}

/* Sends unpublish; a destination that does not read it sees the connection close. */
static void unpublish(struct forward *f)
{
    err_t err = rtmp_client_unpublish(&f->conn, &f->to, f->stream_id);

    err_free(&err);
}

static err_t send_stream(struct forward *f)
{
    const uint32_t param[LIVE_PARAMS] = {
        [RTMP_WIRE_CHUNK_SIZE] = f->conn.out_chunk_size,
        [RTMP_WIRE_STREAM_ID] = f->stream_id,
    };

    return forward_send(f, &rtmp_wire, param, on_readable, unpublish);
}

/* A destination sends little, so it gets the memory and timeouts of a player. */
static void bound(struct forward *f)
{
    const struct conf_limits *limits = &f->session.conf->limits;
    struct session_env *env = f->session.env;
    uint32_t command = (uint32_t)limits->max_command_size;
    uint32_t all = (uint32_t)limits->max_partial_others;

    f->setup = rtmp_in_heap;
    f->setup.max_command_size = f->setup.max_data_size = f->setup.max_message_size = command;
    f->setup.max_inflight = all > command ? all : command; /* at least one command must fit */
    f->setup.at_once = AT_ONCE;
    f->setup.pool = env->messages;
}

static err_t ask_to_publish(struct forward *f)
{
    err_t err = rtmp_client_connect(&f->conn, &f->to, NULL);

    return err ? err : rtmp_client_publish(&f->conn, &f->to, &f->stream_id);
}

err_t forward_converse(struct forward *f)
{
    struct co_deadline ready = { 0 };
    err_t err = rtmp_url_parse(&f->to, f->url);
    char *app;

    if (err)
        return err;
    app = forward_app(&f->to, f->url);
    bound(f);
    rtmp_conn_init(&f->conn, f->session.io, &f->setup);
    f->conn.message_time = f->session.conf->limits.message_timeout;
    co_deadline_set(&ready, READY, ERR_IO_TIMEOUT, "it did not take the stream");
    err = ask_to_publish(f);
    co_deadline_cancel(&ready);
    co_stack_trim();
    if (!err)
        err = send_stream(f);
    rtmp_conn_fini(&f->conn);
    rtmp_url_free(&f->to);
    free(app);
    return err;
}

static err_t by_rtmp(struct forward *f)
{
    const struct conf_forward *set = &f->session.vhost->forward;
    const struct io_tls_trust trust = { .any = !set->tls_verify, .ca = set->tls_ca };
    struct io *io;
    err_t err;

    err = co_dns_connect(&io, f->host, f->port, NULL, ANSWER);
    if (err)
        return err;
    io->read_timeout = io->write_timeout = ANSWER;
    if (f->tls)
        err = io_tls_connect(&io, f->host, &trust, ANSWER);
    f->session.io = io;
    if (!err)
        err = forward_converse(f);
    f->session.io = NULL;
    io_close(io);
    return err;
}

static err_t forward_once(struct forward *f)
{
    err_t err;

    f->session.began_at = 0;
    err = f->scheme == CONF_RTSP ? forward_by_rtsp(f)
          : f->scheme == CONF_SRT ? forward_by_srt(f) : by_rtmp(f);
    if (!f->ending)
        (void)co_stop_forget(); /* reconnects after a kick or a timeout */
    return err;
}

/* Errors such as a kick say nothing about the destination. */
static void log_failed(struct forward *f, err_t *err, co_usec pause)
{
    f->failures++;
    forward_hide(f, *err);
    (void)err_text(*err, f->error, sizeof(f->error));
    if (err_class(*err) != ERR_CLASS_STOP)
        target_failed(&f->at, f->host, f->port, *err);
    log_debug("forward %s to %.300s, again in %lld s: %s", live_source_name(f->src), f->shown,
              us_to_s(pause), f->error);
    err_free(err);
}

err_t forward_main(void *forward)
{
    struct forward *f = forward;
    struct backoff again = backoff_init(FIRST_PAUSE, LONGEST_PAUSE);
    err_t err = NULL;

    f->session.co = co_self();
    random_id(f->id, sizeof(f->id) - 1);
    log_trace("forward %s to %s: connecting", live_source_name(f->src), f->shown);
    while (!f->ending && !(err = co_check())) {
        err = forward_once(f);
        if (f->ending)
            break;
        if (f->session.began_at && co_now() - f->session.began_at > LONGEST_PAUSE)
            backoff_reset(&again); /* it worked for a while */
        log_failed(f, &err, again.pause);
        err = co_sleep(again.pause);
        err_free(&err);
        backoff_grow(&again);
    }
    err_free(&err);
    log_trace("forward %s to %s: ended", live_source_name(f->src), f->shown);
    forward_free(f);
    return NULL;
}
