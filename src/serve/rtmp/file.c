/* SPDX-License-Identifier: MIT */
/* file.c - finds the file that a client requests, and its length. */
#include "base/must.h"
#include "serve/rtmp/session.h"
#include "session/player.h"
#include "vod/vod.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Prefixes that Flash put in front of a name to give the type of the file; FFmpeg and librtmp still
 * do. With a prefix the extension may be left out. */
static const struct {
    const char *prefix, *end;
} kinds[] = { { "mp4:", ".mp4" }, { "flv:", ".flv" } };

/* Returns true if the name is that of a file, and its path below vod.dir. */
static bool is_file(const struct rtmp_session *s, const char *app, const char *name, char *path)
{
    return s->base.env->vod && vod_is_file(s->base.vhost, app, name, path);
}

/* Resolves a name like "mp4:dir/a?token=x" without its prefix and with `end` before the "?". */
static err_t try_name(struct rtmp_session *s, const char *name, const char *end, bool *found)
{
    char path[VOD_PATH_MAX], *plain;
    size_t n = strcspn(name, "?");
    err_t err;

    plain = must_print("%.*s%s%s", (int)n, name, end, name + n);
    err = rtmp_session_resolve(s, plain);
    free(plain);
    *found = !err && is_file(s, s->url.app, s->url.stream, path);
    return err;
}

err_t rtmp_file_resolve(struct rtmp_session *s, const char *name)
{
    bool found = false;

    for (size_t i = 0; s->base.env->vod && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t n = strlen(kinds[i].prefix);
        err_t err;

        if (strncasecmp(name, kinds[i].prefix, n) != 0)
            continue;
        err = try_name(s, name + n, "", &found);
        if (!err && !found)
            err = try_name(s, name + n, kinds[i].end, &found);
        if (err || found)
            return err;
    }
    return rtmp_session_resolve(s, name);
}

void rtmp_file_close(struct rtmp_session *s)
{
    s->file = vod_file_unref(s->file);
}

static err_t open_path(struct rtmp_session *s, const char *path)
{
    if (s->file && strcmp(vod_file_name(s->file), path) == 0)
        return NULL;
    rtmp_file_close(s);
    return vod_file_open(&s->file, s->base.env->vod, s->base.vhost, path);
}

err_t rtmp_file_open(struct rtmp_session *s)
{
    char path[VOD_PATH_MAX];

    if (!is_file(s, s->base.names.app, s->base.names.name, path))
        return err_new(ERR_NO_FILE, "%s", s->base.names.name);
    return open_path(s, path);
}

/* Finds "a.flv" for the name "a": players leave out that extension. */
static err_t find_flv(struct rtmp_session *s)
{
    char path[VOD_PATH_MAX], *name = must_print("%s.flv", s->url.stream);
    err_t err = NULL;

    if (is_file(s, s->url.app, name, path)) {
        err = open_path(s, path);
        s->base.on_demand = err_code(err) != ERR_NO_FILE; /* no such file: a live stream */
        err_free(&err); /* reported when it plays */
    }
    if (s->base.on_demand)
        err = session_find_stream(&s->base, s->url.vhost, s->url.app, name);
    free(name);
    return err;
}

err_t rtmp_file_find(struct rtmp_session *s, enum rtmp_role role)
{
    char path[VOD_PATH_MAX];

    s->base.on_demand = is_file(s, s->base.names.app, s->base.names.name, path);
    if (s->base.on_demand || role == RTMP_ROLE_PUBLISH || !s->base.env->vod ||
        strchr(s->base.names.name, '.'))
        return NULL;
    return find_flv(s);
}

/* Clients request the length before they play, so before they are authorized. Where playing needs
 * authorization, the answer reveals nothing about files whose names a client could only guess. */
err_t rtmp_file_length(struct rtmp_session *s, const struct rtmp_command *c)
{
    const char *name = rtmp_command_string(c, 1, "");
    struct rtmp_batch b;
    err_t err = NULL;
    double length = 0; /* 0 for a live stream */

    if (s->base.env->vod && !session_play_is_asked(s->base.vhost)) {
        err = rtmp_file_resolve(s, name);
        if (!err)
            err = session_find_stream(&s->base, s->url.vhost, s->url.app, s->url.stream);
        if (!err)
            err = rtmp_file_find(s, RTMP_ROLE_PLAY);
        if (!err && s->base.on_demand)
            err = rtmp_file_open(s);
        if (!err && s->base.on_demand)
            length = (double)vod_file_info(s->file)->duration / AV_CLOCK;
        err_free(&err); /* `play` reports the error */
    }
    if (c->transaction <= 0)
        return NULL;
    rtmp_batch_begin(&b, s);
    rtmp_reply_number(&b.body, c->transaction, length);
    rtmp_batch_put(&b, RTMP_COMMAND, 0);
    return rtmp_batch_send(&b);
}
