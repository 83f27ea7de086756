/* SPDX-License-Identifier: MIT */
/* admit.c - finds the stream of a connection and authorizes the client. */
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

/* Old publishers append this extension to the name that they announce. */
static size_t without_sdp(const char *name)
{
    size_t n = strlen(name);

    return n > 4 && strcasecmp(name + n - 4, ".sdp") == 0 ? n - 4 : n;
}

/* Splits "/app/stream"; the app may have several levels. With one level the app is "live". */
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

/* Sets the stream of the connection and checks that its vhost has RTSP. */
static err_t name_stream(struct rtsp_conn *c, const struct rtsp_target *t, enum rtsp_role role)
{
    char buf[VHOST_MAX];
    const char *vhost = http_url_param(t->query, "vhost", buf, sizeof(buf));
    err_t err;

    if (!vhost)
        vhost = http_url_param(t->query, "domain", buf, sizeof(buf));
    if (!*t->path)
        return err_new(ERR_DENIED, "the URL names no stream");
    rtsp_conn_leave(c, NULL);
    set_names(c, t, role);
    c->logged_in = false;
    err = session_find_stream(&c->base, vhost && *vhost ? vhost : t->host, c->base.names.app,
                              c->base.names.name);
    if (!err && !c->base.vhost->rtsp.enabled)
        err = err_new(ERR_VHOST_DISABLED, "RTSP is disabled in vhost %s", c->base.vhost->name);
    if (err) {
        free(c->path);
        c->path = NULL;
    }
    return err;
}

/* Returns true if the target is the stream that it has, or had before it moved here. Once a stream
 * is described, a track may have any path: clients that resolve URLs by RFC 3986 request
 * /live/trackID=0 for /live/s?k=v. */
static bool is_named(const struct rtsp_conn *c, const struct rtsp_target *t)
{
    return c->path && (strcmp(c->path, t->path) == 0 ||
                       (c->role != RTSP_NO_ROLE && t->track >= 0));
}

/* Admits the client. `file`: the file that it plays, or NULL. */
static err_t admit_client(struct rtsp_exchange *x, enum rtsp_role role, const char *file)
{
    struct rtsp_conn *c = x->c;
    err_t err;

    co_deadline_cancel(&c->deadline); /* the time that backends take does not count */
    if (role == RTSP_PUBLISHER)
        err = rtsp_publish_begin(x);
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

/* Status of an error response; the client may try another stream. Once it is admitted, ERR_TOO_MANY
 * means too many open files. */
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

static void log_rejected(const struct rtsp_conn *c, int status, err_t why)
{
    char text[300];

    if (c->file)
        vod_refused(c->base.env->vod, "RTSP", c->tcp.ip, why);
    else
        log_warn("RTSP client is refused with %d: %s", status, err_text(why, text, sizeof(text)));
}

/* Sets tcp.move_to if another worker must serve its stream; the request moves with it. Returns NULL
 * without setting it if the connection stays here. Yields. */
static err_t choose_worker(struct rtsp_conn *c, bool publishes)
{
    unsigned to;
    err_t err;

    if (c->arrived) { /* it moved here for this stream */
        c->arrived = false;
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

/* Authenticates the client, moves it to the worker of its stream, and admits it. */
static err_t admit(struct rtsp_exchange *x, enum rtsp_role role, int *status)
{
    struct rtsp_conn *c = x->c;
    char path[VOD_PATH_MAX];
    bool file;
    err_t err = rtsp_conn_login(x, role, status);

    if (err || *status)
        return err;
    file = rtsp_file_is(c, path);
    if (file && role == RTSP_PUBLISHER)
        return err_new(ERR_DENIED, "\"%s\" is the name of a file", path);
    if (file) /* a file stays here, even if the client moved here for a stream of that name */
        c->arrived = false;
    else
        err = choose_worker(c, role == RTSP_PUBLISHER);
    if (err)
        return err;
    if (c->tcp.move_to >= 0) {
        *status = -1;
        return NULL;
    }
    return admit_client(x, role, file ? path : NULL);
}

err_t rtsp_conn_enter(struct rtsp_exchange *x, enum rtsp_role role, int *status)
{
    struct rtsp_conn *c = x->c;
    err_t err = NULL, stop;
    bool in;

    *status = 0;
    if (c->role == role && is_named(c, &x->target))
        return NULL;
    if (c->flowing) {
        *status = 455;
        return NULL;
    }
    if (!is_named(c, &x->target) || c->role != RTSP_NO_ROLE) /* another stream, or another role */
        err = name_stream(c, &x->target, role);
    if (!err)
        err = admit(x, role, status);
    if (!err)
        return NULL;
    stop = co_check();
    if (stop) { /* the session was stopped: that is the reason */
        err_free(&stop);
        return err;
    }
    in = c->role != RTSP_NO_ROLE;
    *status = status_of(err, in);
    log_rejected(c, *status, err);
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
    c->role = RTSP_NO_ROLE;
    c->opened = c->begin = false;
    c->flowing = NULL;
    free(c->path);
    c->path = NULL;
}
