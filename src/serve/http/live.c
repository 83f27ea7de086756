/* SPDX-License-Identifier: MIT */
/* live.c - live streams over HTTP and WebSocket. */
#include "serve/http/live.h"

#include "base/container_of.h"
#include "base/log.h"
#include "co/net/io_tcp.h"
#include "co/net/round.h"
#include "live/sender.h"
#include "proto/http/ws.h"
#include "serve/http/live_ws.h"
#include "serve/http/mux.h"
#include "serve/http/names.h"
#include "session/admit.h"
#include "session/bandwidth.h"
#include "session/clients.h"
#include "session/place.h"
#include "session/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Once the first frame is there, so long for the first one of the other kind. */
#define GUESS_TIME CO_MS(500)

/* Not inlined: its frame would stay on the stack below the player for all its life. */
#define SHORT_LIVED __attribute__((noinline))

enum {
    READ_SIZE = 2048,
    LONG_ENOUGH = 16, /* packets of one kind without any of the other: there is none */
};

struct playing {
    struct http_exchange *x;
    const struct http_live_kind *kind;
    const struct http_live_promise *promise;
    struct http_live_ws *ws;  /* NULL: plain HTTP */
    struct live_source *src;
    struct live_sender sender;
    unsigned generation;
    const char *vhost;        /* as it was asked for */
    uint64_t dropped;         /* as the log was told last */
    co_usec began_at;
    struct kbps in_kbps, out_kbps;
    struct client who;
    const char *tc_url, *page_url;
    struct co *co;
    bool kicked;
    struct serve_term term;
};

/* ---- what the server's lists know of it */

static void describe(struct client *c, struct clients_info *out)
{
    struct playing *p = container_of(c, struct playing, who);
    const struct io *io = p->x->io;
    co_usec now = co_clock();

    kbps_sample(&p->in_kbps, io->bytes_in, now);
    kbps_sample(&p->out_kbps, io->bytes_out, now);
    *out = (struct clients_info){
        .ip = p->x->ip, .tc_url = p->tc_url, .page_url = p->page_url, .swf_url = "",
        .began_at = p->began_at, .in = io->bytes_in, .out = io->bytes_out,
        .in_kbps = p->in_kbps.s30_kbps, .out_kbps = p->out_kbps.s30_kbps,
    };
}

static void kick(struct client *c)
{
    struct playing *p = container_of(c, struct playing, who);

    p->kicked = true;
    co_stop(p->co, NULL);
}

static const struct clients_kind listed = { describe, kick };

/* ---- its turns */

static void apply_settings(struct playing *p, const struct conf_vhost *v)
{
    p->sender.set = (struct live_sender_settings){
        .mw_latency = v->play.mw_latency == CONF_AUTO ? LIVE_MW_AUTO : v->play.mw_latency,
        .mw_msgs = (unsigned)v->play.mw_msgs,
        .send_interval = v->play.send_min_interval,
    };
    io_tcp_nodelay(p->x->io, v->tcp_nodelay);
    session_pace(p->x->io, p->x->paced, v->bandwidth.play_kbps);
}

static void open_consumer(struct playing *p)
{
    uint32_t param[LIVE_PARAMS] = { 0 };

    if (p->kind->params)
        p->kind->params(p->promise, param);
    live_consumer_close(&p->sender.consumer);
    live_consumer_open(&p->sender.consumer, p->src, p->ws ? p->kind->ws : p->kind->wire, param);
}

/* A player has nothing to say; over WebSocket it may ask whether we are there. */
static err_t on_readable(void *arg)
{
    struct playing *p = arg;
    uint8_t buf[READ_SIZE];
    size_t n = 0;
    err_t err = io_read_now(p->x->io, buf, sizeof(buf), &n);

    if (!err && p->ws && n > 0)
        err = http_live_ws_input(p->ws, p->x->io, buf, n, &p->sender.done);
    return err;
}

static void sample(struct playing *p, co_usec now)
{
    struct session_env *env = p->x->env;

    kbps_sample(&p->in_kbps, p->x->io->bytes_in, now);
    kbps_sample(&p->out_kbps, p->x->io->bytes_out, now);
    clients_count(&p->who, p->x->io->bytes_in, p->x->io->bytes_out);
    if (!sampled_due(&env->sampled, SAMPLED_HTTP, now, env->conf->sampled_print))
        return;
    log_always(LOG_TRACE,
               "%s http: got %llu msgs, age=%lld, min=%u, mw=%lld", sampled_name(SAMPLED_HTTP),
               (unsigned long long)live_consumer_pending(&p->sender.consumer),
               (long long)(now - p->began_at) / 1000, p->sender.set.mw_msgs,
               (long long)p->sender.merge / 1000);
}

/* The configuration changed: is the vhost still there, and what does it say? */
static err_t apply_reload(struct playing *p)
{
    const struct session_env *env = p->x->env;
    const struct conf_vhost *v = conf_vhost_find(env->conf, p->vhost);

    p->generation = env->generation;
    if (!v || !v->enabled)
        return err_new(v ? ERR_VHOST_DISABLED : ERR_NO_VHOST, "the configuration changed");
    apply_settings(p, v);
    return NULL;
}

static err_t on_turn(void *arg)
{
    struct playing *p = arg;

    if (p->generation != p->x->env->generation) {
        err_t err = apply_reload(p);

        if (err)
            return err;
    }
    session_log_dropped(p->sender.consumer.dropped, &p->dropped);
    sample(p, co_now());
    return NULL;
}

/* ---- what is promised */

/* Is it known what the stream has? *wait is how long that may still take. */
static bool is_known(const struct playing *p, co_usec first, co_usec *wait)
{
    struct live_source_stat stat;

    live_source_stat(p->src, &stat);
    if (stat.audio != AV_CODEC_NONE && stat.video != AV_CODEC_NONE)
        return true;
    if (first && stat.log_packets >= LONG_ENOUGH)
        return true;
    *wait = first ? first + GUESS_TIME - co_now() : CO_FOREVER;
    return first && *wait <= 0;
}

static bool has_media(const struct playing *p)
{
    struct live_source_stat stat;

    live_source_stat(p->src, &stat);
    return stat.audio != AV_CODEC_NONE || stat.video != AV_CODEC_NONE;
}

/* Wait for the publisher and its first frames, hearing the player meanwhile. */
static err_t wait_known(struct playing *p)
{
    co_usec first = 0, wait = 0;
    struct co_round round = { 0 };
    err_t err = NULL;

    while (!err && !p->sender.done) {
        if (!first && has_media(p))
            first = co_now();
        if (is_known(p, first, &wait))
            break;
        live_consumer_park_me(&p->sender.consumer,
                              live_consumer_pending(&p->sender.consumer) + 1);
        (void)io_wait(p->x->io, false, wait);
        live_consumer_unpark(&p->sender.consumer);
        err = co_check();
        if (!err && io_readable(p->x->io))
            err = on_readable(p);
        if (!err)
            err = co_round_io(&round, p->x->io);
    }
    return err;
}

static err_t guess(struct playing *p, struct http_live_promise *promise)
{
    const struct http_live_promise asked = *promise;
    struct live_source_stat stat;
    err_t err;

    if (!p->kind->promises || !p->x->vhost->http_remux.guess_has_av)
        return NULL;
    err = wait_known(p);
    if (err)
        return err;
    live_source_stat(p->src, &stat);
    if (stat.audio == AV_CODEC_NONE && stat.video == AV_CODEC_NONE)
        return NULL;
    promise->audio &= stat.audio != AV_CODEC_NONE;
    promise->video &= stat.video != AV_CODEC_NONE;
    /* Who gets all keeps its place: the newest key frame may be another one by now. */
    if (promise->audio != asked.audio || promise->video != asked.video)
        open_consumer(p);
    return NULL;
}

static SHORT_LIVED err_t send_head(struct playing *p)
{
    uint8_t buf[HTTP_LIVE_HEAD_MAX + HTTP_WS_HEAD_MAX], *head = buf + HTTP_WS_HEAD_MAX;
    size_t n = p->kind->head ? p->kind->head(p->promise, head) : 0, frame;

    if (n > 0 && p->ws) {
        frame = http_ws_head_size(n, false);
        head -= frame;
        (void)http_ws_head(head, HTTP_WS_BINARY, n, NULL);
        n += frame;
    }
    return n > 0 ? io_write(p->x->io, head, n) : NULL;
}

/* ---- one player */

static err_t play(struct playing *p)
{
    const struct conf_http_remux *remux = &p->x->vhost->http_remux;
    struct http_live_promise promise = { remux->has_audio, remux->has_video,
                                         remux->drop_if_not_match };
    err_t err;

    p->promise = &promise;
    p->sender = (struct live_sender){ .io = p->x->io, .arg = p, .on_readable = on_readable,
                                      .on_turn = on_turn,
                                      .look_every = p->x->env->conf->sampled_print / 2,
                                      .epoch = &p->x->env->generation };
    p->generation = p->x->env->generation;
    apply_settings(p, p->x->vhost);
    open_consumer(p);
    err = guess(p, &promise);
    if (!err && !p->sender.done)
        err = send_head(p);
    co_stack_trim();
    if (!err && !p->sender.done)
        err = live_sender_run(&p->sender);
    live_consumer_close(&p->sender.consumer);
    return err;
}

/* The answer's head, which says that the end of the connection is the end of the stream. */
static err_t begin(struct http_exchange *x, const struct http_live_kind *kind,
                   struct http_live_ws *ws)
{
    err_t err;

    if (ws) {
        http_live_ws_fields(ws, x->resp);
        err = http_response_begin(x->resp, 101, HTTP_TO_CLOSE);
    } else {
        http_response_add(x->resp, "Content-Type", "%s", kind->type);
        http_response_add(x->resp, "Cache-Control", "no-cache");
        err = http_response_begin(x->resp, 200, HTTP_TO_CLOSE);
    }
    x->resp->close = true;
    return err ? err : http_response_flush(x->resp);
}

/* In the server's lists while it plays. */
static err_t serve_listed(struct playing *p, const struct http_names *names)
{
    struct http_exchange *x = p->x;
    uint8_t *rest;
    size_t left;
    err_t err;

    x->env->players++;
    kbps_init(&p->in_kbps, x->io->bytes_in, co_now());
    kbps_init(&p->out_kbps, x->io->bytes_out, co_now());
    clients_admit(&p->who, &names->of);
    session_log_as_client(x->env, x->ip);
    log_trace("HTTP client identified, type=%s%s, ip=%s:%d, stream=%s, param=%s",
              p->ws ? "ws" : "http", p->kind->end, x->ip, x->port, live_source_name(p->src),
              log_param(x->req->query));
    err = begin(x, p->kind, p->ws);
    http_reader_leave(x->reader, &rest, &left);
    if (!err && p->ws)
        err = http_live_ws_input(p->ws, x->io, rest, left, &p->sender.done);
    http_reader_forget(x->reader); /* a player keeps no more than it needs */
    if (!err)
        err = play(p);
    x->env->players--;
    return err;
}

static void leave(struct playing *p, err_t *why)
{
    if (p->kicked && err_code(*why) == ERR_STOPPED) {
        err_free(why);
        *why = err_new(ERR_KICKED, "%s", p->x->ip);
    }
    session_term_end(&p->term, why);
    clients_leave(&p->who, p->x->io->bytes_in, p->x->io->bytes_out, *why);
    p->src = live_source_unref(p->src);
}

static SHORT_LIVED err_t refuse(struct http_exchange *x, err_t why)
{
    int status = err_class(why) == ERR_CLASS_DENIED ? 403 : 503; /* 503: nobody could be asked */
    char text[300];

    log_warn("HTTP player is refused: %s", err_text(why, text, sizeof(text)));
    err_free(&why);
    return http_response_status(x->resp, status);
}

/* The backend hears of it by the configuration that is in force now, if that has the vhost. */
static void log_stopped(struct http_exchange *x, struct hooks_line **line,
                         const struct hooks_event *event)
{
    struct conf *conf = x->env->conf;
    const struct conf_vhost *v = conf_vhost_find(conf, x->vhost->name);

    if (v)
        hooks_notify(x->env, line, conf, v, HOOKS_STOP, event);
}

static err_t serve_player(struct http_exchange *x, const struct http_live_kind *kind,
                          const struct http_live_name *name, struct http_live_ws *ws)
{
    struct playing p = { .x = x, .kind = kind, .ws = ws, .vhost = x->vhost->name,
                         .began_at = co_now(), .co = co_self() };
    struct hooks_line *line = NULL;
    struct http_names names;
    struct hooks_event event = { .names = &names.of,
                                 .bearer = http_request_field(x->req, "Authorization") };
    int64_t ends;
    bool played;
    err_t err;

    http_names_make(&names, x, name);
    p.tc_url = names.of.tc_url;
    p.page_url = names.of.page_url;
    p.src = http_names_source(&names, x);
    clients_wait(x->env->clients, &p.who, &listed, CLIENTS_FLV_PLAY, NULL, &names.of, p.src);
    event.clients = p.who.stream ? p.who.stream->clients + 1 : 0;
    err = session_ask_play(x->env, &line, x->vhost, &event, &ends);
    played = !err;
    if (played)
        session_term_begin(&p.term, ends);
    if (played)
        err = serve_listed(&p, &names);
    event.clients = p.who.stream ? p.who.stream->clients : 0;
    if (played)
        log_stopped(x, &line, &event);
    leave(&p, &err);
    hooks_line_end(&line);
    http_names_free(&names);
    if (!played)
        return err_class(err) == ERR_CLASS_STOP ? err : refuse(x, err);
    log_trace("HTTP client played for %lld ms, %llu bytes",
              (long long)(co_now() - p.began_at) / 1000,
              (unsigned long long)x->io->bytes_out);
    return err ? err_wrap(err, "play %s", kind->end) : NULL;
}

/* A mount without [app] is for whoever publishes a stream of that name now: the app is that
 * one's, borrowed until the next yield. */
static bool find_app(const struct http_exchange *x, struct http_live_name *name)
{
    const char *vhost = x->vhost->name;
    size_t n = strlen(vhost);

    for (struct live_source *src = live_registry_next(x->env->streams, NULL); src;
         src = live_registry_next(x->env->streams, src)) {
        const char *whole = live_source_name(src), *stream = strrchr(whole, '/');

        if (!live_source_publishing(src) || strncmp(whole, vhost, n) != 0 || whole[n] != '/' ||
            stream <= whole + n || strlen(stream + 1) != name->stream_size ||
            memcmp(stream + 1, name->stream, name->stream_size) != 0)
            continue;
        name->app = whole + n + 1;
        name->app_size = (size_t)(stream - name->app);
        return true;
    }
    return false;
}

static err_t answer(struct http_exchange *x, void *arg)
{
    const struct http_live_kind *kind = arg;
    struct http_live_name name;
    struct http_live_ws *ws = NULL;
    err_t err;

    if (!x->vhost || !x->vhost->enabled || !x->vhost->http_remux.enabled ||
        !http_live_match(x->vhost->http_remux.mount, x->req->host, x->req->path, &name) ||
        (!name.app && !find_app(x, &name))) {
        x->declined = true;
        return NULL;
    }
    if (x->req->verb == HTTP_VERB_HEAD) {
        err = http_exchange_allowed(x, CONF_PLAY);
        return err ? refuse(x, err) : begin(x, kind, NULL);
    }
    if (http_request_has(x->req, "Upgrade", "websocket")) {
        ws = kind->ws ? http_live_ws_open(x->req) : NULL;
        if (!ws)
            return http_live_ws_refuse(x->resp);
    }
    err = serve_player(x, kind, &name, ws);
    free(ws);
    return err;
}

void http_live_mount(struct http_mux *mux)
{
    for (const struct http_live_kind *const *k = http_live_kinds; *k; k++) {
        char pattern[32];

        (void)snprintf(pattern, sizeof(pattern), "*%s", (*k)->end);
        (void)http_mux_add(mux, &(struct http_mount){
            .pattern = pattern, .methods = 1u << HTTP_VERB_GET, .ports = HTTP_PORT_SERVER,
            .handler = answer, .arg = (void *)(uintptr_t)*k });
    }
}
