/* SPDX-License-Identifier: MIT */
/* hls_http.c - HLS and DASH over HTTP: what is in memory, blocking reloads, and sessions. */
#include "sink/hls_http.h"

#include "base/log.h"
#include "proto/http/range.h"
#include "proto/http/url.h"
#include "serve/http_static.h"
#include "sink/hls_session.h"
#include "sink/hls_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REWRITTEN_MAX = 4 << 20, URL_MAX = 2048 };

#define BLOCK_MAX CO_SECONDS(15) /* of a blocking reload: three target durations at most */

static bool full_path(const struct http_exchange *x, char *buf, size_t size)
{
    const char *path, *folder = http_static_place(x, &path);

    return snprintf(buf, size, "%s%s", folder, path) < (int)size;
}

/* ------------------------------------------------------------ sending */

static err_t send_bytes(struct http_exchange *x, int status, const uint8_t *data, size_t size)
{
    err_t err = http_response_begin(x->resp, status, (int64_t)size);

    if (!err)
        err = http_response_write(x->resp, data, size);
    return err ? err : http_response_end(x->resp);
}

static err_t send_range(struct http_exchange *x, const struct hls_file *f)
{
    const char *field = http_request_field(x->req, "Range");
    int64_t begin = 0, end = (int64_t)f->size;
    enum http_range range = HTTP_RANGE_ALL;

    if (field)
        range = http_range_parse(field, (int64_t)f->size, &begin, &end);
    if (range == HTTP_RANGE_BAD) {
        http_response_add(x->resp, "Content-Range", "bytes */%zu", f->size);
        return http_response_status(x->resp, 416);
    }
    if (range != HTTP_RANGE_PART)
        return send_bytes(x, 200, f->data, f->size);
    http_response_add(x->resp, "Content-Range", "bytes %lld-%lld/%zu", (long long)begin,
                      (long long)end - 1, f->size);
    return send_bytes(x, 206, f->data + begin, (size_t)(end - begin));
}

static err_t send_file(struct http_exchange *x, const struct hls_file *f)
{
    char etag[32];

    (void)snprintf(etag, sizeof(etag), "\"%llx\"", (unsigned long long)f->etag);
    http_response_add(x->resp, "Content-Type", "%s", f->type);
    http_response_add(x->resp, "Cache-Control", f->playlist ? "no-cache" : "max-age=60");
    if (http_response_unchanged(x->resp, etag, (time_t)(f->modified / 1000)))
        return http_response_send(x->resp, 304, "", 0);
    return f->playlist ? http_response_send(x->resp, 200, f->data, f->size) : send_range(x, f);
}

/* ------------------------------------------------------------ sessions */

/* What the child list is called: its name beside this one, or its whole path. */
static void put_child(struct http_exchange *x, const char *id, struct wr *w)
{
    const char *path = x->req->path, *slash = strrchr(path, '/');
    bool relative = x->vhost->hls.master_m3u8_path_relative;

    http_url_put_path(w, relative && slash ? slash + 1 : path);
    wr_bytes(w, "?hls_ctx=", 9);
    wr_bytes(w, id, strlen(id));
    hls_session_query(x->req->query, w);
    wr_u8(w, 0);
}

static err_t send_master(struct http_exchange *x, struct hls *h, const char *path,
                         const struct hls_session *session)
{
    struct hls_variant v;
    struct wr child, text;
    err_t err;

    (void)hls_variant(h, path, &v);
    wr_init(&child, URL_MAX * 4);
    wr_init(&text, URL_MAX * 8);
    put_child(x, session->id, &child);
    if (!child.bad)
        m3u8_master(&text, (const char *)child.buf, v.bandwidth ? v.bandwidth : 1, v.codecs,
                    v.width, v.height);
    http_response_add(x->resp, "Content-Type", "application/vnd.apple.mpegurl");
    http_response_add(x->resp, "Cache-Control", "no-store");
    if (child.bad || text.bad)
        err = http_response_status(x->resp, 414);
    else
        err = http_response_send(x->resp, 200, text.buf, text.len);
    wr_free(&child);
    wr_free(&text);
    return err;
}

/* Put the session's id behind each url of the list: lines that are no tags, and URI attributes of
 * parts. */
static void add_ids(const struct hls_file *f, const char *id, struct wr *w)
{
    const char *p = (const char *)f->data, *end = p + f->size;

    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((nl ? nl : end) - p);
        bool part = n > 12 && (strncmp(p, "#EXT-X-PART:", 12) == 0 ||
                               strncmp(p, "#EXT-X-PRELO", 12) == 0);
        const char *uri = part ? memmem(p, n, "URI=\"", 5) : NULL;
        const char *at = uri ? memchr(uri + 5, '"', (size_t)(p + n - uri - 5)) : NULL;

        if (n > 0 && *p != '#')
            at = p + n;
        if (at) {
            wr_bytes(w, p, (size_t)(at - p));
            wr_bytes(w, memchr(p, '?', (size_t)(at - p)) ? "&hls_ctx=" : "?hls_ctx=", 9);
            wr_bytes(w, id, strlen(id));
            wr_bytes(w, at, (size_t)(p + n - at));
        } else {
            wr_bytes(w, p, n);
        }
        wr_u8(w, '\n');
        p += n + 1;
    }
}

/* What was made of a list for this request alone; frees it. */
static err_t send_made(struct http_exchange *x, const struct hls_file *f, struct wr *w)
{
    err_t err;

    http_response_add(x->resp, "Content-Type", "%s", f->type);
    http_response_add(x->resp, "Cache-Control", "no-cache");
    err = w->bad ? http_response_status(x->resp, 500)
                 : http_response_send(x->resp, 200, w->buf, w->len);
    wr_free(w);
    return err;
}

static err_t send_with_ids(struct http_exchange *x, const struct hls_file *f, const char *id)
{
    struct wr w;

    wr_init(&w, REWRITTEN_MAX);
    add_ids(f, id, &w);
    return send_made(x, f, &w);
}

/* The id in the request's url, or NULL. */
static const char *id_of(const struct http_exchange *x, char id[HLS_SESSION_ID + 2])
{
    return http_url_param(x->req->query, "hls_ctx", id, HLS_SESSION_ID + 2);
}

static err_t refused(struct http_exchange *x, err_t err)
{
    int status = err_class(err) == ERR_CLASS_DENIED ? 403 : 503; /* 503: it may come later */
    char text[300];

    if (err_class(err) == ERR_CLASS_STOP)
        return err;
    log_warn("HLS player is refused: %s", err_text(err, text, sizeof(text)));
    err_free(&err);
    return http_response_status(x->resp, status);
}

/* ------------------------------------------------------------ requests */

static bool number(const struct http_exchange *x, const char *key, uint64_t *out)
{
    char text[24], *end;

    if (!http_url_param(x->req->query, key, text, sizeof(text)) || text[0] < '0' || text[0] > '9')
        return false;
    *out = strtoull(text, &end, 10);
    return *end == '\0';
}

/* [HLS] bis 6.2.5.2. *status: what to answer if the wait was for nothing. */
static err_t block(const struct http_exchange *x, struct hls *h, const char *path, int *status)
{
    uint64_t segment, part = 0;
    bool has_part = number(x, "_HLS_part", &part);
    err_t err;

    *status = 0;
    if (!number(x, "_HLS_msn", &segment)) {
        *status = has_part ? 400 : 0;
        return NULL;
    }
    if (part > 1000 || segment > INT64_MAX) {
        *status = 400;
        return NULL;
    }
    err = hls_wait(h, path, segment, has_part ? (int)part : -1, BLOCK_MAX);
    switch (err_code(err)) {
    case ERR_MALFORMED:
        *status = 400;
        break;
    case ERR_IO_TIMEOUT:
        *status = 503;
        break;
    case ERR_STREAM_END:
        *status = 404;
        break;
    default:
        return err;
    }
    err_free(&err);
    return NULL;
}

/* [HLS] bis 6.2.5.1: there are no date ranges, so v2 asks for nothing more. */
static bool wants_update(const struct http_exchange *x)
{
    char text[8];
    const char *skip = http_url_param(x->req->query, "_HLS_skip", text, sizeof(text));

    return skip && (strcmp(skip, "YES") == 0 || strcmp(skip, "v2") == 0);
}

/* The list of segments; of a session, with its id in the urls. */
static err_t send_segments(struct http_exchange *x, struct hls *h, const char *path,
                           const struct hls_session *session)
{
    struct hls_file *f;
    int status;
    err_t err = block(x, h, path, &status);

    if (err)
        return err;
    f = wants_update(x) ? hls_find_update(h, path) : hls_find(h, path);
    if (status || !f)
        err = http_response_status(x->resp, status ? status : 404);
    else if (session && x->vhost->hls.ts_ctx)
        err = send_with_ids(x, f, session->id);
    else
        err = send_file(x, f);
    (void)hls_file_unref(f);
    return err;
}

/* Who is not known gets a session first, and then a list of one list that has its id. An id that
 * was forgotten (its player paused for long, or we were restarted) is one again. */
static err_t send_list(struct http_exchange *x, struct hls *h, const char *path)
{
    char text[HLS_SESSION_ID + 2];
    const char *id = id_of(x, text);
    struct hls_session *session = id ? hls_session_find(h, id) : NULL;
    err_t err = NULL;

    if (!session && (!x->vhost->hls.ctx || x->req->verb == HTTP_VERB_HEAD))
        return send_segments(x, h, path, NULL);
    if (!session)
        err = hls_session_begin(h, x, path, id, &session);
    if (err_code(err) == ERR_MALFORMED) {
        err_free(&err);
        id = NULL;
        err = hls_session_begin(h, x, path, id, &session);
    }
    if (err)
        return refused(x, err);
    if (!hls_session_hold(session))
        return http_response_status(x->resp, session->kicked ? 403 : 503);
    err = id ? send_segments(x, h, path, session) : send_master(x, h, path, session);
    hls_session_release(session, x->resp->sent);
    return err;
}

/* A path is one stream, whatever host it is asked of: the rules are those of the stream's vhost. */
static const struct conf_vhost *vhost_of(const struct http_exchange *x, struct hls *h,
                                         const char *path)
{
    struct serve_stream names;

    if (!x->vhost || !hls_names_of(h, path, &names))
        return NULL;
    return conf_vhost_find(x->conf, names.vhost);
}

static err_t on_list(struct http_exchange *x, void *arg)
{
    struct hls *h = arg;
    const struct conf_vhost *vhost = NULL;
    char path[HLS_NAME_MAX];
    err_t err;

    if (full_path(x, path, sizeof(path)))
        vhost = vhost_of(x, h, path);
    if (!vhost) {
        x->declined = true;
        return NULL;
    }
    x->vhost = vhost;
    err = http_exchange_allowed(x, CONF_PLAY);
    return err ? refused(x, err) : send_list(x, h, path);
}

/* From memory, or from disk. */
static err_t send_segment(struct http_exchange *x, struct hls *h, const char *path)
{
    err_t err = hls_wait_file(h, path, BLOCK_MAX);
    struct hls_file *f = err ? NULL : hls_find(h, path);
    const char *below, *folder = http_static_place(x, &below);

    if (err_class(err) == ERR_CLASS_STOP)
        return err;
    err_free(&err);
    if (!f)
        return http_static_serve(x, folder, below);
    err = send_file(x, f);
    (void)hls_file_unref(f);
    return err;
}

static err_t on_segment(struct http_exchange *x, void *arg)
{
    struct hls *h = arg;
    char path[HLS_NAME_MAX], text[HLS_SESSION_ID + 2];
    const char *id = id_of(x, text);
    struct hls_session *session = id ? hls_session_find(h, id) : NULL;
    err_t err;

    x->declined = !full_path(x, path, sizeof(path)) || (!session && !hls_knows(h, path));
    if (x->declined)
        return NULL;
    if (session && !hls_session_hold(session))
        return http_response_status(x->resp, session->kicked ? 403 : 503);
    err = send_segment(x, h, path);
    if (session)
        hls_session_release(session, x->resp->sent);
    return err;
}

/* With the time of now, by which players with a wrong clock find the live edge: so it is never the
 * same, and not to be kept. */
static err_t send_mpd(struct http_exchange *x, const struct hls_file *f)
{
    struct wr w;

    wr_init(&w, REWRITTEN_MAX);
    mpd_put_time(&w, (const char *)f->data, f->size, co_wall_ms());
    return send_made(x, f, &w);
}

static err_t on_mpd(struct http_exchange *x, void *arg)
{
    struct hls *h = arg;
    char path[HLS_NAME_MAX];
    struct hls_file *f = NULL;
    err_t err;

    if (x->vhost && full_path(x, path, sizeof(path)))
        f = hls_find(h, path);
    x->declined = !f;
    if (!f)
        return NULL;
    err = http_exchange_allowed(x, CONF_PLAY);
    err = err ? refused(x, err) : send_mpd(x, f);
    (void)hls_file_unref(f);
    return err;
}

void hls_http_mount(struct hls *h, struct http_mux *mux)
{
    static const char *const segments[] = { "*.ts", "*.m4s", "*.mp4", "*.key" };
    struct http_mount m = { .pattern = "*.m3u8", .methods = HTTP_METHODS_READ,
                            .ports = HTTP_PORT_SERVER, .handler = on_list, .arg = h };

    (void)http_mux_add(mux, &m);
    m.pattern = "*.mpd";
    m.handler = on_mpd;
    (void)http_mux_add(mux, &m);
    m.handler = on_segment;
    for (size_t i = 0; i < sizeof(segments) / sizeof(segments[0]); i++) {
        m.pattern = segments[i];
        (void)http_mux_add(mux, &m);
    }
}
