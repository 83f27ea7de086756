/* SPDX-License-Identifier: MIT */
/* live.c - live streams over HTTP and WebSocket. */
#include "serve/http/live.h"

#include "base/container_of.h"
#include "base/must.h"
#include "co/net/round.h"
#include "serve/http/mux.h"
#include "serve/http/play.h"
#include "session/stream_owners.h"
#include "session/move.h"
#include "wire/flv.h"
#include "session/stream_key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Once a first frame has arrived, how long to wait for the first one of the other track. */
#define GUESS_TIME CO_MS(500)

enum {
    PATH_SIZE = 1024, /* path of a stream: vhost, app and name */
    MOUNT_SIZE = 512,
    LONG_ENOUGH = 16, /* after so many packets of one track the other one is taken as missing */
};

struct playing {
    struct http_play play;
    const struct http_live_kind *kind;
    struct http_live_tracks announced;
    bool opus_settled; /* nothing to log about Opus, or logged already */
};

static void open_wire(struct playing *p)
{
    uint32_t param[LIVE_PARAMS] = { 0 };

    if (p->kind->params)
        p->kind->params(&p->announced, param);
    session_player_open(&p->play.player, p->play.ws ? p->kind->ws : p->kind->wire, param);
}

/* ---- announced tracks */

/* Returns true if the tracks of the stream are known, else sets *wait to how long that may still
 * take. */
static bool is_known(const struct playing *p, co_usec first, co_usec *wait)
{
    struct live_source_stat stat;

    live_source_stat(p->play.session.src, &stat);
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

    live_source_stat(p->play.session.src, &stat);
    return stat.audio != AV_CODEC_NONE || stat.video != AV_CODEC_NONE;
}

/* Waits for the publisher and its first frames; handles input of the player meanwhile. */
static err_t wait_known(struct playing *p)
{
    struct live_sender *sender = &p->play.player.sender;
    struct io *io = p->play.x->io;
    co_usec first = 0, wait = 0;
    struct co_round round = { 0 };
    err_t err = NULL;

    while (!err && !sender->done) {
        if (!first && has_media(p))
            first = co_now();
        if (is_known(p, first, &wait))
            break;
        live_consumer_park_me(&sender->consumer, live_consumer_pending(&sender->consumer) + 1);
        (void)io_wait(io, false, wait);
        live_consumer_unpark(&sender->consumer);
        err = co_check();
        if (!err && io_readable(io))
            err = http_play_readable(&p->play.player);
        if (!err)
            err = co_round_io(&round, io);
    }
    return err;
}

static err_t wait_tracks(struct playing *p)
{
    struct http_live_tracks *announced = &p->announced;
    const struct http_live_tracks configured = *announced;
    struct live_source_stat stat;
    err_t err;

    if ((!p->kind->announces && !p->kind->waits) || !p->play.x->vhost->http_remux.guess_has_av)
        return NULL;
    err = wait_known(p);
    if (err || !p->kind->announces)
        return err;
    live_source_stat(p->play.session.src, &stat);
    if (stat.audio == AV_CODEC_NONE && stat.video == AV_CODEC_NONE)
        return NULL;
    announced->audio &=
        stat.audio != AV_CODEC_NONE && !(announced->no_opus && stat.audio == AV_OPUS);
    announced->video &= stat.video != AV_CODEC_NONE;
    /* With all tracks the player keeps its position: the newest key frame may have changed
     * since. */
    if (announced->audio != configured.audio || announced->video != configured.video)
        open_wire(p);
    return NULL;
}

static HTTP_PLAY_SHORT_LIVED err_t send_head(struct playing *p)
{
    uint8_t head[HTTP_LIVE_HEAD_MAX];
    size_t n = p->kind->head ? p->kind->head(&p->announced, head) : 0;

    return n > 0 ? http_play_write(&p->play, head, n) : NULL;
}

static void on_turn(struct session_player *player)
{
    struct playing *p = container_of(player, struct playing, play.player);

    if (p->announced.no_opus && !p->opus_settled)
        p->opus_settled = session_play_log_no_opus_once(player->s, HTTP_PLAY_NO_OPUS);
}

/* ---- one player */

static err_t play(struct playing *p)
{
    struct live_sender *sender = &p->play.player.sender;
    err_t err;

    open_wire(p);
    err = wait_tracks(p);
    if (!err && !sender->done)
        err = send_head(p);
    if (!err && !sender->done)
        err = session_player_send(&p->play.player);
    return err;
}

static err_t serve_player(struct http_exchange *x, const struct http_live_kind *kind,
                          const struct http_live_name *name, struct http_live_ws *ws)
{
    const struct session_player_kind players = { /* valid while it plays */
        .type = kind->client, .what = "player", .sampled = SAMPLED_HTTP,
        .on_readable = http_play_readable, .log_sample = http_play_log_sample,
        .on_turn = on_turn,
    };
    const struct conf_http_remux *remux = &x->vhost->http_remux;
    struct playing p = {
        .play = { .x = x, .end = kind->end, .type = kind->type, .ws = ws }, .kind = kind,
        .announced = { remux->has_audio, remux->has_video, remux->drop_if_not_match,
                     kind->wire == &flv_wire && http_play_no_opus(x->req) },
    };
    err_t err = http_play_init(&p.play, name);

    if (!err && http_exchange_move(x, session_goes_to(&p.play.session, false))) {
        http_play_fini(&p.play);
        return NULL;
    }
    if (!err)
        err = http_play_admit(&p.play, &players);
    if (err) {
        err = err_class(err) == ERR_CLASS_STOP ? err : http_play_reject(x, err);
    } else {
        err = http_play_start(&p.play);
        if (!err)
            err = play(&p);
        err = http_play_end(&p.play, err);
    }
    http_play_fini(&p.play);
    return err;
}

/* Finds the "vhost/app/stream" of a published stream of that name, on any worker. */
static bool find_path(const struct http_exchange *x, const struct http_live_name *name, char *path)
{
    const char *vhost = x->vhost->name;
    size_t n = strlen(vhost);

    if (x->env->workers)
        return stream_owners_find_published(x->env->workers, vhost, name->stream, name->stream_size,
                                            path, PATH_SIZE);
    for (struct live_source *src = live_registry_next(x->env->streams, NULL); src;
         src = live_registry_next(x->env->streams, src)) {
        const char *full_name = live_source_name(src), *stream = strrchr(full_name, '/');

        if (!live_source_publishing(src) || strncmp(full_name, vhost, n) != 0 ||
            full_name[n] != '/' || stream <= full_name + n ||
            strlen(stream + 1) != name->stream_size ||
            memcmp(stream + 1, name->stream, name->stream_size) != 0)
            continue;
        return snprintf(path, PATH_SIZE, "%s", full_name) < PATH_SIZE;
    }
    return false;
}

/* Finds the app for a mount without [app]: that of the stream of this name that is published now.
 * Returns its memory for free(). */
static HTTP_PLAY_SHORT_LIVED char *find_app(const struct http_exchange *x,
                                            struct http_live_name *name)
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
        err = http_play_poll(x, name);
        return err ? http_play_reject(x, err) : http_play_head(x, kind->type, NULL);
    }
    if (!http_play_upgrade(x, kind->ws, &ws))
        return http_live_ws_reject(x->resp);
    err = serve_player(x, kind, name, ws);
    free(ws);
    return err;
}

/* Answers when no stream of that name is published, so no backend can authorize the player. The
 * answer must be the same as for an existing stream that the client may not play. */
static err_t answer_unknown(struct http_exchange *x)
{
    return http_play_reject(x, err_new(ERR_TOKEN, "no stream %s", x->req->path));
}

/* Returns true if the stream is published, on any worker. */
static bool is_on_air(const struct http_exchange *x, const struct http_live_name *name)
{
    struct session_stream names;
    char *memory = http_names_make(&names, x, name);
    struct stream_key *key = stream_key_new(x->vhost->name, names.app, names.name);
    const struct live_source *src = live_registry_find(x->env->streams, key->path);
    bool on = x->env->workers ? stream_owners_is_published(x->env->workers, key->path)
                              : src && live_source_publishing(src);

    (void)stream_key_unref(key);
    free(memory);
    return on;
}

/* For an extension that is not the mount's own: returns true if the request cannot mean a file. A
 * stream that comes from another server is not live before it is requested. */
static bool is_live(const struct http_exchange *x, const struct http_live_name *name)
{
    return http_request_has(x->req, "Upgrade", "websocket") || !name->app ||
           x->vhost->cluster.mode == CONF_CLUSTER_REMOTE || is_on_air(x, name);
}

/* Matches the path against the mount, or against the mount with the extension of this kind. */
static bool matches_mount(const struct http_exchange *x, const struct http_live_kind *kind,
                          struct http_live_name *name)
{
    const struct conf_http_remux *remux = &x->vhost->http_remux;
    size_t n = strlen(remux->mount), end = kind->other_end ? strlen(kind->other_end) : 0;
    char mount[MOUNT_SIZE];

    if (http_live_match(remux->mount, x->req->host, x->req->path, name))
        return true;
    if (!end || !remux->fmp4 || n < end || strcmp(remux->mount + n - end, kind->other_end) != 0 ||
        snprintf(mount, sizeof(mount), "%.*s%s", (int)(n - end), remux->mount,
                 kind->end) >= MOUNT_SIZE)
        return false;
    return http_live_match(mount, x->req->host, x->req->path, name) && is_live(x, name);
}

static err_t answer(struct http_exchange *x, void *arg)
{
    struct http_live_name name;
    char *app = NULL;
    err_t err = NULL;

    x->declined = !x->vhost || !x->vhost->enabled || !x->vhost->http_remux.enabled ||
                  !matches_mount(x, arg, &name);
    if (x->declined)
        return NULL;
    if (!name.app && !(app = find_app(x, &name))) {
        x->declined = !session_play_is_asked(x->vhost);
        return x->declined ? NULL : answer_unknown(x);
    }
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
