/* SPDX-License-Identifier: MIT */
/* vod.c - files on demand over HTTP and WebSocket. */
#include "serve/http/vod.h"

#include "base/log.h"
#include "base/must.h"
#include "format/flv/flv.h"
#include "proto/http/url.h"
#include "serve/http/mux.h"
#include "serve/http/play.h"
#include "serve/http/static.h"
#include "vod/wires.h"
#include "wire/flv.h"

#include <stdlib.h>
#include <string.h>

#define END ".flv"
#define TYPE "video/x-flv"
#define ROUNDED AV_CLOCK

enum { HEAD_MAX = 256 * 1024, TIME_TEXT = 12 };

/* A parsed request. */
struct request {
    struct http_live_name name;
    char path[VOD_PATH_MAX]; /* below vod.dir */
    int64_t from, to;        /* 1/90000 s */
    struct http_live_ws *ws;
};

struct playing {
    struct http_play play;
    struct vod_file *file;
    struct vod_feed feed;
    struct vod_wire_use use;
    bool no_opus; /* http_play_no_opus(): the request no longer exists when the file is open */
};

/* ---- parsing */

/* Parses a path: "/vod/dir/a.mp4.flv" is a.mp4 of the app vod/dir. */
static bool find_name(const struct http_exchange *x, struct request *w)
{
    const char *path = x->req->path, *slash = strrchr(path, '/');
    size_t size = strlen(path), end = strlen(END);
    char *app, *name;
    bool found;

    if (!slash || slash <= path + 1 || size < end || strcmp(path + size - end, END) != 0)
        return false;
    w->name = (struct http_live_name){
        .app = path + 1, .app_size = (size_t)(slash - path) - 1,
        .stream = slash + 1, .stream_size = size - (size_t)(slash + 1 - path) - end,
    };
    app = must_ndup(w->name.app, w->name.app_size);
    name = must_ndup(w->name.stream, w->name.stream_size);
    found = vod_is_file(x->vhost, app, name, w->path);
    free(app);
    free(name);
    return found;
}

/* Parses a time in seconds, "12" or "12.5". Returns false if it is invalid. */
static bool get_time(const char *query, const char *key, int64_t *out)
{
    char text[TIME_TEXT];
    size_t n;

    if (!http_url_param(query, key, text, sizeof(text)))
        return true;
    n = strspn(text, "0123456789");
    if (n > 0 && text[n] == '.')
        n += 1 + strspn(text + n + 1, "0123456789");
    if (n == 0 || text[n])
        return false;
    *out = (int64_t)(strtod(text, NULL) * AV_CLOCK);
    return true;
}

/* ---- one player */

/* Sends the file header, metadata and codec configurations. */
static err_t send_head(struct playing *p, int64_t time)
{
    const struct demux_track *t = vod_file_info(p->file)->tracks;
    uint8_t file[FLV_FILE_HEADER + FLV_TAG_TRAILER];
    struct wr head;
    err_t err;

    flv_file_build(file, p->use.param[FLV_WIRE_LEAVE_OUT] ? AV_CODEC_NONE : t[DEMUX_AUDIO].codec,
                   t[DEMUX_VIDEO].codec);
    err = http_play_write(&p->play, file, sizeof(file));
    wr_init(&head, HEAD_MAX);
    vod_head_put(p->file, &p->use, time, &head);
    if (!err)
        err = wr_err(&head, "the head of a file");
    if (!err && head.len > 0)
        err = io_write(p->play.x->io, head.buf, head.len);
    wr_free(&head);
    return err;
}

static uint32_t leave_out(const struct playing *p)
{
    if (!p->no_opus || vod_file_info(p->file)->tracks[DEMUX_AUDIO].codec != AV_OPUS)
        return 0;
    session_play_log_no_opus(&p->play.session, HTTP_PLAY_NO_OPUS);
    return FLV_WIRE_NO_OPUS;
}

static err_t play(struct playing *p, const struct request *w)
{
    const struct conf_vod *vod = &p->play.x->vhost->vod;
    struct session_player *player = &p->play.player;
    int64_t start;
    err_t err = http_play_start(&p->play);

    p->use = (struct vod_wire_use){
        .wire = p->play.ws ? &vod_wire_flv_ws : &vod_wire_flv,
        .tracks = VOD_TRACKS_VIDEO | VOD_TRACKS_AUDIO,
        .param = { [FLV_WIRE_LEAVE_OUT] = leave_out(p) },
    };
    vod_feed_open(&p->feed, p->file, &(struct vod_feed_setup){
        .use = p->use, .loop = vod->loop && w->to == INT64_MAX });
    session_player_open_feed(player, &p->feed.feed);
    start = vod_feed_play(&p->feed, w->from, w->to, VOD_SCALE_1);
    log_trace("HTTP client plays %s from %lld ms, requested %lld ms", vod_file_name(p->file),
              av_to_ms(start), av_to_ms(w->from));
    if (!err && !player->sender.done)
        err = send_head(p, start);
    if (!err && !player->sender.done)
        err = session_player_send(player);
    if (!err && vod_feed_failed(&p->feed))
        err = err_new(ERR_STREAM_END, "%s cannot be read any further", vod_file_name(p->file));
    return err;
}

static int status_of(err_t why)
{
    switch (err_code(why)) {
    case ERR_NO_FILE:
        return 404;
    case ERR_UNSUPPORTED:
        return 415;
    case ERR_TOO_MANY:
    case ERR_IO_TIMEOUT:
        return 503;
    default:
        return 500;
    }
}

/* Serves the path as a static file, as there is no file on demand. */
static err_t serve_static(struct http_exchange *x, err_t why)
{
    const char *path, *folder = http_static_locate(x, &path);

    err_free(&why);
    return http_static_serve(x, folder, path, NULL);
}

static err_t reject(struct http_exchange *x, const struct request *w, err_t why)
{
    int status;

    if (err_class(why) == ERR_CLASS_STOP)
        return why;
    if (err_code(why) == ERR_NO_FILE && !w->ws)
        return serve_static(x, why);
    vod_refused(x->env->vod, w->ws ? "WebSocket" : "HTTP", x->ip, why);
    status = status_of(why);
    err_free(&why);
    return http_response_status(x->resp, status);
}

/* Returns true if the range contains media. A start that was rounded up beyond the end of the file
 * is allowed and gets the last media. */
static bool has_media(const struct vod_file *file, const struct request *w)
{
    return w->from < w->to && w->from <= vod_file_info(file)->duration + ROUNDED;
}

static err_t play_file(struct playing *p, const struct request *w)
{
    struct http_exchange *x = p->play.x;
    err_t err = vod_file_open(&p->file, x->env->vod, x->vhost, w->path);

    if (err) {
        session_player_end(&p->play.player, err);
        return reject(x, w, err);
    }
    if (!has_media(p->file, w)) {
        session_player_end(&p->play.player, NULL);
        err = http_response_status(x->resp, 416);
    } else {
        err = play(p, w);
        err = http_play_end(&p->play, err);
        vod_feed_close(&p->feed);
    }
    p->file = vod_file_unref(p->file);
    return err;
}

static err_t serve_player(struct http_exchange *x, const struct request *w)
{
    static const struct session_player_kind players = {
        .type = CLIENTS_FLV_VOD, .what = "player", .sampled = SAMPLED_HTTP,
        .on_readable = http_play_readable, .log_sample = http_play_log_sample,
    };
    struct playing p = { .play = { .x = x, .end = END, .type = TYPE, .ws = w->ws },
                         .no_opus = http_play_no_opus(x->req) };
    err_t err = http_play_init(&p.play, &w->name);

    p.play.session.on_demand = true;
    if (!err)
        err = http_play_admit(&p.play, &players);
    if (!err)
        err = play_file(&p, w);
    else if (err_class(err) != ERR_CLASS_STOP)
        err = http_play_reject(x, err);
    http_play_fini(&p.play);
    return err;
}

/* Answers HEAD. Where players need authorization, it does not reveal whether the file exists. */
static err_t answer_head(struct http_exchange *x, const struct request *w)
{
    struct vod_file *file = NULL;
    err_t err = http_play_poll(x, &w->name);
    bool found;

    if (err)
        return http_play_reject(x, err);
    if (session_play_is_asked(x->vhost))
        return http_play_head(x, TYPE, NULL);
    err = vod_file_open(&file, x->env->vod, x->vhost, w->path);
    if (err)
        return reject(x, w, err);
    found = has_media(file, w);
    (void)vod_file_unref(file);
    return found ? http_play_head(x, TYPE, NULL) : http_response_status(x->resp, 416);
}

static err_t answer_named(struct http_exchange *x, struct request *w)
{
    err_t err;

    w->to = INT64_MAX;
    if (!get_time(x->req->query, "start", &w->from) || !get_time(x->req->query, "end", &w->to))
        return http_response_status(x->resp, 400);
    if (x->req->verb == HTTP_VERB_HEAD)
        return answer_head(x, w);
    if (!http_play_upgrade(x, true, &w->ws))
        return http_live_ws_reject(x->resp);
    err = serve_player(x, w);
    free(w->ws);
    return err;
}

static err_t answer(struct http_exchange *x, void *arg)
{
    struct request *w;
    err_t err = NULL;

    (void)arg;
    x->declined = !x->vhost || !x->vhost->enabled || !x->vhost->vod.enabled || !x->env->vod;
    if (x->declined)
        return NULL;
    w = must(calloc(1, sizeof(*w)));
    x->declined = !find_name(x, w);
    if (!x->declined)
        err = answer_named(x, w);
    free(w);
    return err;
}

void http_vod_mount(struct http_mux *mux)
{
    (void)http_mux_add(mux, &(struct http_mount){ .pattern = "*" END,
                                                  .methods = 1u << HTTP_VERB_GET,
                                                  .ports = HTTP_PORT_SERVER, .handler = answer });
}
