/* SPDX-License-Identifier: MIT */
/* live.c - live streams over HTTP and WebSocket. */
#include "serve/http/live.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "co/net/round.h"
#include "proto/http/ws.h"
#include "serve/http/live_ws.h"
#include "serve/http/mux.h"
#include "serve/http/names.h"
#include "session/homes.h"
#include "session/move.h"
#include "session/player.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Once the first frame is there, so long for the first one of the other kind. */
#define GUESS_TIME CO_MS(500)

/* Not inlined: its frame would stay on the stack below the player for all its life. */
#define SHORT_LIVED __attribute__((noinline))

enum {
    READ_SIZE = 2048,
    PATH_SIZE = 1024, /* of a stream: vhost, app and name */
    LONG_ENOUGH = 16, /* packets of one kind without any of the other: there is none */
};

struct playing {
    struct session_player player;
    struct session session;
    struct http_exchange *x;
    const struct http_live_kind *kind;
    struct http_live_promise promise;
    struct http_live_ws *ws;  /* NULL: plain HTTP */
};

static struct playing *playing_of(struct session_player *player)
{
    return container_of(player, struct playing, player);
}

/* ---- its turns */

static void open_wire(struct playing *p)
{
    uint32_t param[LIVE_PARAMS] = { 0 };

    if (p->kind->params)
        p->kind->params(&p->promise, param);
    session_player_open(&p->player, p->ws ? p->kind->ws : p->kind->wire, param);
}

/* A player has nothing to say; over WebSocket it may ask whether we are there. */
static err_t on_readable(struct session_player *player)
{
    struct playing *p = playing_of(player);
    uint8_t buf[READ_SIZE];
    size_t n = 0;
    err_t err = io_read_now(p->x->io, buf, sizeof(buf), &n);

    if (!err && p->ws && n > 0)
        err = http_live_ws_input(p->ws, p->x->io, buf, n, &p->player.sender.done);
    return err;
}

static void log_sample(const struct session_player *p, co_usec now)
{
    log_always(LOG_TRACE,
               "%s http: got %llu msgs, age=%lld, min=%u, mw=%lld", sampled_name(SAMPLED_HTTP),
               (unsigned long long)live_sender_pending(&p->sender),
               us_to_ms(now - p->s->began_at), p->sender.set.mw_msgs, us_to_ms(p->sender.merge));
}

/* ---- what is promised */

/* Is it known what the stream has? *wait is how long that may still take. */
static bool is_known(const struct playing *p, co_usec first, co_usec *wait)
{
    struct live_source_stat stat;

    live_source_stat(p->session.src, &stat);
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

    live_source_stat(p->session.src, &stat);
    return stat.audio != AV_CODEC_NONE || stat.video != AV_CODEC_NONE;
}

/* Wait for the publisher and its first frames, with what the player says meanwhile. */
static err_t wait_known(struct playing *p)
{
    co_usec first = 0, wait = 0;
    struct co_round round = { 0 };
    err_t err = NULL;

    while (!err && !p->player.sender.done) {
        if (!first && has_media(p))
            first = co_now();
        if (is_known(p, first, &wait))
            break;
        live_consumer_park_me(&p->player.sender.consumer,
                              live_consumer_pending(&p->player.sender.consumer) + 1);
        (void)io_wait(p->x->io, false, wait);
        live_consumer_unpark(&p->player.sender.consumer);
        err = co_check();
        if (!err && io_readable(p->x->io))
            err = on_readable(&p->player);
        if (!err)
            err = co_round_io(&round, p->x->io);
    }
    return err;
}

static err_t guess(struct playing *p)
{
    struct http_live_promise *promise = &p->promise;
    const struct http_live_promise asked = *promise;
    struct live_source_stat stat;
    err_t err;

    if (!p->kind->promises || !p->x->vhost->http_remux.guess_has_av)
        return NULL;
    err = wait_known(p);
    if (err)
        return err;
    live_source_stat(p->session.src, &stat);
    if (stat.audio == AV_CODEC_NONE && stat.video == AV_CODEC_NONE)
        return NULL;
    promise->audio &= stat.audio != AV_CODEC_NONE;
    promise->video &= stat.video != AV_CODEC_NONE;
    /* Who gets all keeps its place: the newest key frame may be another one by now. */
    if (promise->audio != asked.audio || promise->video != asked.video)
        open_wire(p);
    return NULL;
}

static SHORT_LIVED err_t send_head(struct playing *p)
{
    uint8_t buf[HTTP_LIVE_HEAD_MAX + HTTP_WS_HEAD_MAX], *head = buf + HTTP_WS_HEAD_MAX;
    size_t n = p->kind->head ? p->kind->head(&p->promise, head) : 0, frame;

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
    err_t err;

    open_wire(p);
    err = guess(p);
    if (!err && !p->player.sender.done)
        err = send_head(p);
    if (!err && !p->player.sender.done)
        err = session_player_send(&p->player);
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

/* It was let in: it is told so, and then gets the stream. */
static err_t converse(struct playing *p)
{
    struct http_exchange *x = p->x;
    uint8_t *rest;
    size_t left;
    err_t err;

    log_trace("HTTP client identified, type=%s%s, ip=%s:%d, stream=%s, param=%s",
              p->ws ? "ws" : "http", p->kind->end, x->ip, x->port,
              live_source_name(p->session.src), log_param(x->req->query));
    err = begin(x, p->kind, p->ws);
    http_reader_leave(x->reader, &rest, &left);
    if (!err && p->ws)
        err = http_live_ws_input(p->ws, x->io, rest, left, &p->player.sender.done);
    http_reader_forget(x->reader); /* a player keeps no more than it needs */
    return err ? err : play(p);
}

static SHORT_LIVED err_t refuse(struct http_exchange *x, err_t why)
{
    int status = err_class(why) == ERR_CLASS_DENIED ? 403 : 503; /* 503: nobody could be asked */
    char text[300];

    log_warn("HTTP player is refused: %s", err_text(why, text, sizeof(text)));
    err_free(&why);
    return http_response_status(x->resp, status);
}

static err_t serve_player(struct http_exchange *x, const struct http_live_kind *kind,
                          const struct http_live_name *name, struct http_live_ws *ws)
{
    static const struct session_player_kind players = {
        .type = CLIENTS_FLV_PLAY, .what = "player", .sampled = SAMPLED_HTTP,
        .on_readable = on_readable, .log_sample = log_sample,
    };
    const struct conf_http_remux *remux = &x->vhost->http_remux;
    struct playing p = {
        .x = x, .kind = kind, .ws = ws,
        .promise = { remux->has_audio, remux->has_video, remux->drop_if_not_match },
    };
    struct session *s = &p.session;
    char *memory;
    err_t err;

    session_init(s, x->env, x->io);
    memory = http_names_make(&s->names, x, name);
    session_begin(s);
    err = session_find_stream(s, x->vhost->name, s->names.app, s->names.name);
    if (!err && http_exchange_move(x, session_goes_to(s, false))) {
        session_fini(s);
        free(memory);
        return NULL;
    }
    if (!err)
        err = session_player_begin(&p.player, s, &players,
                                   http_request_field(x->req, "Authorization"));
    if (err) {
        err = err_class(err) == ERR_CLASS_STOP ? err : refuse(x, err);
    } else {
        err = converse(&p);
        session_player_end(&p.player, err);
        log_trace("HTTP client played for %lld ms, %llu bytes",
                  us_to_ms(co_now() - s->began_at), (unsigned long long)x->io->bytes_out);
        err = err ? err_wrap(err, "play %s", kind->end) : NULL;
    }
    session_fini(s);
    free(memory);
    return err;
}

/* "vhost/app/stream" of a stream of that name that somebody publishes, at whatever worker. */
static bool find_path(const struct http_exchange *x, const struct http_live_name *name, char *path)
{
    const char *vhost = x->vhost->name;
    size_t n = strlen(vhost);

    if (x->env->workers)
        return homes_find_published(x->env->workers, vhost, name->stream, name->stream_size, path,
                                    PATH_SIZE);
    for (struct live_source *src = live_registry_next(x->env->streams, NULL); src;
         src = live_registry_next(x->env->streams, src)) {
        const char *whole = live_source_name(src), *stream = strrchr(whole, '/');

        if (!live_source_publishing(src) || strncmp(whole, vhost, n) != 0 || whole[n] != '/' ||
            stream <= whole + n || strlen(stream + 1) != name->stream_size ||
            memcmp(stream + 1, name->stream, name->stream_size) != 0)
            continue;
        return snprintf(path, PATH_SIZE, "%s", whole) < PATH_SIZE;
    }
    return false;
}

/* A mount without [app] is for whoever publishes a stream of that name now: the app is that
 * one's, in memory to give to free(). */
static SHORT_LIVED char *find_app(const struct http_exchange *x, struct http_live_name *name)
{
    char path[PATH_SIZE], *kept;

    if (!find_path(x, name, path))
        return NULL;
    kept = must_dup(path);
    name->app = kept + strlen(x->vhost->name) + 1;
    name->app_size = (size_t)(strrchr(kept, '/') - name->app);
    return kept;
}

static err_t answer_named(struct http_exchange *x, const struct http_live_kind *kind,
                          const struct http_live_name *name)
{
    struct http_live_ws *ws = NULL;
    err_t err;

    if (x->req->verb == HTTP_VERB_HEAD) {
        err = http_exchange_allowed(x, CONF_PLAY);
        return err ? refuse(x, err) : begin(x, kind, NULL);
    }
    if (http_request_has(x->req, "Upgrade", "websocket")) {
        ws = kind->ws ? http_live_ws_open(x->req) : NULL;
        if (!ws)
            return http_live_ws_refuse(x->resp);
    }
    err = serve_player(x, kind, name, ws);
    free(ws);
    return err;
}

static err_t answer(struct http_exchange *x, void *arg)
{
    struct http_live_name name;
    char *app = NULL;
    err_t err = NULL;

    x->declined = !x->vhost || !x->vhost->enabled || !x->vhost->http_remux.enabled ||
                  !http_live_match(x->vhost->http_remux.mount, x->req->host, x->req->path, &name);
    if (!x->declined && !name.app)
        x->declined = !(app = find_app(x, &name));
    if (!x->declined)
        err = answer_named(x, arg, &name);
    free(app);
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
