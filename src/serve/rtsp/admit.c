/* SPDX-License-Identifier: MIT */
/* admit.c - which stream a connection is about, and whether it is allowed. */
#include "base/log.h"
#include "base/must.h"
#include "proto/http/url.h"
#include "serve/rtsp/file.h"
#include "serve/rtsp/publish.h"
#include "session/move.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { VHOST_MAX = 256 };

#define FIRST_SETUP CO_SECONDS(10)

void rtsp_conn_expect_setup(struct rtsp_conn *c)
{
    co_deadline_set(&c->deadline, FIRST_SETUP, ERR_IO_TIMEOUT, "no SETUP");
}

/* Old pushers add it to what they announce. */
static size_t without_sdp(const char *name)
{
    size_t n = strlen(name);

    return n > 4 && strcasecmp(name + n - 4, ".sdp") == 0 ? n - 4 : n;
}

/* "/app/stream", of which the app may have several levels; one level is a stream of "live". */
static void set_names(struct rtsp_conn *c, const struct rtsp_target *t, enum rtsp_role role)
{
    struct session_stream *names = &c->base.names;
    const char *slash = strrchr(t->path, '/'), *app = "live", *name = slash + 1;
    size_t name_size = role == RTSP_PUBLISHER ? without_sdp(name) : strlen(name);
    int n = 4;

    if (slash > t->path) {
        app = t->path + 1;
        n = (int)(slash - app);
    }
    free(c->names);
    c->names = must_print("%.*s%c%.*s%c%s%s%crtsp://%s/%.*s", n, app, '\0', (int)name_size, name,
                          '\0', *t->query ? "?" : "", t->query, '\0', t->host, n, app);
    names->app = c->names;
    names->name = names->app + strlen(names->app) + 1;
    names->param = names->name + strlen(names->name) + 1;
    names->tc_url = names->param + strlen(names->param) + 1;
    free(c->path);
    c->path = must_dup(t->path);
}

/* Its stream has a name from now on, and a vhost that has RTSP. */
static err_t name_stream(struct rtsp_conn *c, const struct rtsp_target *t, enum rtsp_role role)
{
    char buf[VHOST_MAX];
    const char *vhost = http_url_param(t->query, "vhost", buf, sizeof(buf));
    err_t err;

    if (!vhost)
        vhost = http_url_param(t->query, "domain", buf, sizeof(buf));
    if (!*t->path)
        return err_new(ERR_DENIED, "the url names no stream");
    rtsp_conn_leave(c, NULL);
    set_names(c, t, role);
    c->logged_in = false;
    err = session_find_stream(&c->base, vhost && *vhost ? vhost : t->host, c->base.names.app,
                              c->base.names.name);
    if (!err && !c->base.vhost->rtsp.enabled)
        err = err_new(ERR_VHOST_DISABLED, "%s has no RTSP", c->base.vhost->name);
    if (err) {
        free(c->path);
        c->path = NULL;
    }
    return err;
}

/* The stream that it has, or had before it came here: then it is named already. Once a stream is
 * described, a track of it may have any path: who takes RFC 3986 by its word asks for
 * /live/trackID=0 of /live/s?k=v. */
static bool is_named(const struct rtsp_conn *c, const struct rtsp_target *t)
{
    return c->path && (strcmp(c->path, t->path) == 0 ||
                       (c->role != RTSP_NOBODY && t->track >= 0));
}

/* `file`: the one that it plays, or NULL. */
static err_t let_in(struct rtsp_asked *a, enum rtsp_role role, const char *file)
{
    struct rtsp_conn *c = a->c;
    err_t err;

    co_deadline_cancel(&c->deadline); /* others are asked: that is not the client's time */
    if (role == RTSP_PUBLISHER)
        err = rtsp_publish_begin(a);
    else
        err = file ? rtsp_file_begin(c, file) : rtsp_play_begin(c);
    if (err)
        return err;
    c->role = role;
    rtsp_conn_expect_setup(c);
    log_trace("RTSP client identified, type=%s, ip=%s:%d, stream=%s",
              role == RTSP_PUBLISHER ? "publish" : file ? "vod" : "play", c->tcp.ip, c->tcp.port,
              live_source_name(c->base.src));
    return NULL;
}

/* It is refused, and may try another stream. What there are too many of, once it is let in, are
 * files that are open. */
static int status_of(err_t err, bool in)
{
    static const struct {
        enum err_code code;
        int status;
    } rows[] = {
        { ERR_NO_VHOST, 404 }, { ERR_VHOST_DISABLED, 404 }, { ERR_NO_FILE, 404 },
        { ERR_STREAM_BUSY, 406 }, { ERR_REPLACED, 406 }, { ERR_UNSUPPORTED, 415 },
        { ERR_MALFORMED, 400 }, { ERR_TOO_LARGE, 413 },
    };
    int status = err_class(err) == ERR_CLASS_DENIED ? 403 : 503;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (err_code(err) == rows[i].code)
            status = rows[i].status;
    }
    if (err_code(err) == ERR_TOO_MANY && !in)
        status = 453;
    return status;
}

static void tell_refused(const struct rtsp_conn *c, int status, err_t why)
{
    char text[300];

    if (c->file)
        vod_refused(c->base.env->vod, "RTSP", c->tcp.ip, why);
    else
        log_warn("RTSP client is refused with %d: %s", status, err_text(why, text, sizeof(text)));
}

/* Its stream is to be served by another worker: it goes there, tcp.move_to, with its request. NULL
 * and no such worker: it stays. Yields. */
static err_t settle(struct rtsp_conn *c, bool publishes)
{
    unsigned to;
    err_t err;

    if (c->settled) { /* it came for that */
        c->settled = false;
        return NULL;
    }
    to = session_goes_to(&c->base, publishes);
    if (to == c->base.env->worker)
        return NULL;
    co_deadline_cancel(&c->deadline);
    err = hooks_line_rest(&c->base.line, c->base.vhost);
    if (!err)
        err = co_check();
    if (!err)
        c->tcp.move_to = (int)to;
    return err;
}

/* It may be told who it is, goes where its stream is, and is let in. */
static err_t admit(struct rtsp_asked *a, enum rtsp_role role, int *status)
{
    struct rtsp_conn *c = a->c;
    char path[VOD_PATH_MAX];
    bool file;
    err_t err = rtsp_conn_login(a, role, status);

    if (err || *status)
        return err;
    file = rtsp_file_is(c, path);
    if (file && role == RTSP_PUBLISHER)
        return err_new(ERR_DENIED, "\"%s\" is the name of a file", path);
    if (file) /* it stays, even if it came for a stream of that name */
        c->settled = false;
    else
        err = settle(c, role == RTSP_PUBLISHER);
    if (err)
        return err;
    if (c->tcp.move_to >= 0) {
        *status = -1;
        return NULL;
    }
    return let_in(a, role, file ? path : NULL);
}

err_t rtsp_conn_enter(struct rtsp_asked *a, enum rtsp_role role, int *status)
{
    struct rtsp_conn *c = a->c;
    err_t err = NULL, stop;
    bool in;

    *status = 0;
    if (c->role == role && is_named(c, &a->target))
        return NULL;
    if (c->flowing) {
        *status = 455;
        return NULL;
    }
    if (!is_named(c, &a->target) || c->role != RTSP_NOBODY) /* to this one it is something else */
        err = name_stream(c, &a->target, role);
    if (!err)
        err = admit(a, role, status);
    if (!err)
        return NULL;
    stop = co_check();
    if (stop) { /* that is why */
        err_free(&stop);
        return err;
    }
    in = c->role != RTSP_NOBODY;
    *status = status_of(err, in);
    tell_refused(c, *status, err);
    if (in)
        rtsp_conn_leave(c, err);
    err_free(&err);
    return NULL;
}

void rtsp_conn_leave(struct rtsp_conn *c, err_t why)
{
    rtsp_conn_multicast_end(c);
    if (c->role == RTSP_PLAYER)
        session_player_end(&c->player, why);
    else if (c->role == RTSP_PUBLISHER)
        rtsp_publish_end(c, why);
    rtsp_file_end(c);
    rtsp_conn_udp_end(c);
    c->role = RTSP_NOBODY;
    c->opened = c->begin = false;
    c->flowing = NULL;
    free(c->path);
    c->path = NULL;
}
