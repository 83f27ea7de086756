/* SPDX-License-Identifier: MIT */
/* console.c - the web pages: /console/, and / and /players/ unless files have these names. */
#include "app/api/console.h"

#include "app/api/api.h"
#include "base/jput.h"
#include "base/must.h"
#include "co/os/file.h"
#include "serve/http/mux.h"
#include "serve/http/static.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WHERE_MAX = 1024 };

/* The pages use no scripts of other hosts, and text from clients is never executed. Media may come
 * from any port that serves streams. */
#define POLICY "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " \
    "connect-src *; media-src * blob:; worker-src 'self' blob:; base-uri 'none'; " \
    "form-action 'self'"

/* Finds a folder next to the program, ./objs/console or the installed one; malloc'ed, or NULL. */
static char *folder(const char *name)
{
    char exe[PATH_MAX], *slash;
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

    exe[n > 0 ? n : 0] = '\0';
    slash = strrchr(exe, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    return must_print("%s/%s", exe, name);
}

/* `framed`: pages of other sites may embed it in a frame. */
static err_t serve_file(struct http_exchange *x, const char *path, bool framed)
{
    bool player = strncmp(path, "player/", 7) == 0;
    char *where = folder(player ? "player" : "console");
    err_t err;

    http_response_add(x->resp, "Content-Security-Policy", POLICY "%s",
                      framed ? "" : "; frame-ancestors 'none'");
    http_response_add(x->resp, "X-Content-Type-Options", "nosniff");
    http_response_add(x->resp, "Referrer-Policy", "no-referrer");
    http_response_add(x->resp, "Cache-Control", "no-cache");
    err = where ? http_static_serve(x, where, player ? path + 7 : path, NULL)
                : http_response_status(x->resp, 404);
    free(where);
    return err;
}

/* ---- /console/ */

static err_t answer(struct http_exchange *x, void *arg)
{
    const char *path = x->req->path + strlen("/console/");

    (void)arg;
    /* bookmarks of SRS's console */
    if (strcmp(path, "ng_index.html") == 0 || strcmp(path, "en_index.html") == 0)
        return http_response_redirect(x->resp, "/console/", "");
    return serve_file(x, path, false);
}

static bool is_file(const char *dir, const char *path)
{
    struct co_file f = { .fd = -1 };
    err_t err = co_file_open(&f, dir, path);
    bool is = !err && !f.is_folder;

    err_free(&err);
    co_file_close(&f);
    return is;
}

/* Returns true if the optional player libraries are installed. */
static bool has_players(void)
{
    char *where = folder("player");
    bool has = where && is_file(where, "mpegts.js");

    free(where);
    return has;
}

/* Serves what a page needs before it can use the API: only ports. Those of protocols belong to the
 * default vhost. */
static err_t answer_where(struct http_exchange *x, void *arg)
{
    const struct conf *c = x->conf;
    struct wr out;
    struct jput j = { .w = &out };
    err_t err;

    (void)arg;
    http_response_add(x->resp, "Content-Type", "application/json");
    http_response_add(x->resp, "Cache-Control", "no-cache");
    wr_init(&out, WHERE_MAX);
    jput_open(&j, NULL, '{');
    jput_bool(&j, "here_is_api", x->ports & HTTP_PORT_API);
    api_put_ports(&j, c, conf_vhost_find(c, ""));
    jput_bool(&j, "rtc", c->rtc_server.enabled);
    jput_bool(&j, "players", has_players());
    jput_close(&j, '}');
    wr_u8(&out, '\n');
    err = wr_err(&out, "where.json");
    if (!err)
        err = http_response_send(x->resp, 200, out.buf, out.len);
    wr_free(&out);
    return err;
}

/* ---- / and /players/, unless the operator has files there */

/* Serves a built-in page unless a file has that name or a vhost has its own folder. */
static err_t serve_instead(struct http_exchange *x, const char *page, bool framed)
{
    const char *path, *dir = http_static_locate(x, &path);
    size_t n = strlen(path);
    char name[64];

    x->declined = true;
    if (dir != x->conf->http_server.dir)
        return NULL;
    if (path[n - 1] != '/' && is_file(dir, path))
        return NULL;
    for (int html = 0; path[n - 1] == '/' && html < 2; html++) {
        (void)snprintf(name, sizeof(name), "%s%s", path, html ? "index.html" : "index.htm");
        if (is_file(dir, name))
            return NULL;
    }
    x->declined = false;
    return serve_file(x, page, framed);
}

static err_t answer_home(struct http_exchange *x, void *arg)
{
    (void)arg;
    if (strcmp(x->req->path, "/") == 0 || strcmp(x->req->path, "/index.html") == 0)
        return serve_instead(x, "home.html", false);
    x->declined = true;
    return NULL;
}

/* Names of SRS's pages that users have bookmarked or embedded. */
static const struct { const char *name, *page; } player_pages[] = {
    { "srs_player.html", "play.html" }, { "rtc_player.html", "play.html" },
    { "whep.html", "play.html" }, { "rtc_publisher.html", "whip.html" },
    { "whip.html", "whip.html" }, { "srs_publisher.html", "play.html" },
    { "srs_chat.html", "play.html" }, { "srs_bwt.html", "play.html" },
    { "srs_gb28181.html", "play.html" }, { "vlc.html", "play.html" },
    { "jwplayer6.html", "play.html" }, { "osmf.html", "play.html" },
};

static err_t answer_players(struct http_exchange *x, void *arg)
{
    const char *name = x->req->path + strlen("/players/");

    (void)arg;
    if (!*name || strcmp(name, "index.html") == 0)
        return serve_instead(x, "players.html", false);
    for (size_t i = 0; i < sizeof(player_pages) / sizeof(player_pages[0]); i++) {
        if (strcmp(name, player_pages[i].name) == 0)
            return serve_instead(x, player_pages[i].page, true);
    }
    x->declined = true;
    return NULL;
}

void console_mount(struct http_mux *mux)
{
    static const struct {
        const char *pattern;
        enum http_ports ports;
        http_handler *handler;
    } all[] = {
        { "/console/", HTTP_PORT_ALL, answer },
        { "/console/where.json", HTTP_PORT_ALL, answer_where },
        { "/players/", HTTP_PORT_SERVER, answer_players },
        { "/", HTTP_PORT_SERVER, answer_home },
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        (void)http_mux_add(mux, &(struct http_mount){ .pattern = all[i].pattern,
                                                      .handler = all[i].handler,
                                                      .methods = 1u << HTTP_VERB_GET,
                                                      .ports = all[i].ports });
}
