/* SPDX-License-Identifier: MIT */
/* file.c - which file a client means, and how long it is. */
#include "base/must.h"
#include "serve/rtmp/session.h"
#include "session/player.h"
#include "vod/vod.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What Flash put in front of a name to say what kind of file it is; FFmpeg and librtmp do so still.
 * The ending may be left out then. */
static const struct {
    const char *prefix, *end;
} kinds[] = { { "mp4:", ".mp4" }, { "flv:", ".flv" } };

/* Does it name a file? Gives the path below vod.dir. */
static bool is_file(const struct rtmp_session *s, const char *app, const char *name, char *path)
{
    return s->base.env->vod && vod_is_file(s->base.vhost, app, name, path);
}

/* "mp4:dir/a?token=x" without the prefix, with that ending before the "?". */
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

void rtmp_file_forget(struct rtmp_session *s)
{
    s->file = vod_file_unref(s->file);
}

static err_t open_path(struct rtmp_session *s, const char *path)
{
    if (s->file && strcmp(vod_file_name(s->file), path) == 0)
        return NULL;
    rtmp_file_forget(s);
    return vod_file_open(&s->file, s->base.env->vod, s->base.vhost, path);
}

err_t rtmp_file_open(struct rtmp_session *s)
{
    char path[VOD_PATH_MAX];

    if (!is_file(s, s->base.names.app, s->base.names.name, path))
        return err_new(ERR_NO_FILE, "%s", s->base.names.name);
    return open_path(s, path);
}

/* Players leave out the ending of "a.flv". */
static err_t find_flv(struct rtmp_session *s)
{
    char path[VOD_PATH_MAX], *name = must_print("%s.flv", s->url.stream);
    err_t err = NULL;

    if (is_file(s, s->url.app, name, path)) {
        err = open_path(s, path);
        s->base.on_demand = err_code(err) != ERR_NO_FILE; /* else it is a live stream */
        err_free(&err); /* who plays it is told */
    }
    if (s->base.on_demand)
        err = session_find_stream(&s->base, s->url.vhost, s->url.app, name);
    free(name);
    return err;
}

err_t rtmp_file_find(struct rtmp_session *s, enum rtmp_role want)
{
    char path[VOD_PATH_MAX];

    s->base.on_demand = is_file(s, s->base.names.app, s->base.names.name, path);
    if (s->base.on_demand || want == RTMP_ROLE_PUBLISH || !s->base.env->vod ||
        strchr(s->base.names.name, '.'))
        return NULL;
    return find_flv(s);
}

/* It asks before it plays, and before anybody was asked whether it may: where that is asked, it
 * learns nothing of a file that it could only guess the name of. */
err_t rtmp_file_length(struct rtmp_session *s, const struct rtmp_command *c)
{
    const char *name = rtmp_command_string(c, 1, "");
    struct rtmp_batch b;
    err_t err = NULL;
    double length = 0; /* live has none */

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
        err_free(&err); /* `play` tells */
    }
    if (c->transaction <= 0)
        return NULL;
    rtmp_batch_begin(&b, s);
    rtmp_reply_number(&b.body, c->transaction, length);
    rtmp_batch_put(&b, RTMP_COMMAND, 0);
    return rtmp_batch_send(&b);
}
