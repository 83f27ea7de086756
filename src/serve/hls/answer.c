/* SPDX-License-Identifier: MIT */
/* answer.c - responses of HLS and DASH: blocking reloads, sessions, files in memory and on disk. */
#include "serve/hls/answer.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "co/os/file.h"
#include "proto/http/range.h"
#include "proto/http/url.h"
#include "serve/hls/pack.h"
#include "serve/http/static.h"
#include "session/player.h"
#include "session/tokens.h"
#include "sink/hls/stream.h"
#include "sink/hls/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    URL_MAX = 2048,
    GZIP_MIN = 1024,
};

#define BLOCK_MAX CO_SECONDS(15) /* longest wait of a blocking reload: at most three target
                                  * durations */
#define LOG_EVERY CO_SECONDS(10)

/* ------------------------------------------------------------ sending */

static err_t send_bytes(struct http_exchange *x, int status, const uint8_t *data, size_t size)
{
    err_t err = http_response_begin(x->resp, status, (int64_t)size);

    if (!err)
        err = http_response_write(x->resp, data, size);
    return err ? err : http_response_end(x->resp);
}

/* Sends bytes from `begin` to `end`, block by block. */
static err_t send_blocks(struct http_exchange *x, int status, const struct hls_file *f,
                         size_t begin, size_t end)
{
    err_t err = http_response_begin(x->resp, status, (int64_t)(end - begin));
    size_t at = 0; /* offset of the block */

    for (const struct block *b = f->blocks.first; b && at < end && !err; b = b->next) {
        size_t from = begin > at ? begin - at : 0, to = end - at < b->len ? end - at : b->len;

        if (from < to)
            err = http_response_write(x->resp, b->data + from, to - from);
        at += b->len;
    }
    return err ? err : http_response_end(x->resp);
}

static err_t send_some(struct http_exchange *x, int status, const struct hls_file *f, size_t begin,
                       size_t end)
{
    if (f->cache)
        return send_blocks(x, status, f, begin, end);
    return send_bytes(x, status, f->data + begin, end - begin);
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
        return send_some(x, 200, f, 0, f->size);
    http_response_add(x->resp, "Content-Range", "bytes %lld-%lld/%zu", (long long)begin,
                      (long long)end - 1, f->size);
    return send_some(x, 206, f, (size_t)begin, (size_t)end);
}

/* The URLs that get the session's key: segments if hls_ts_ctx is on; encryption keys also without
 * it, if they need a session. */
static unsigned urls_with_id(const struct conf_vhost *v)
{
    return (v->hls.ts_ctx ? M3U8_URLS_MEDIA : 0u) |
           (hls_needs_session(v, HLS_KEY) ? M3U8_URLS_KEYS : 0u);
}

_Static_assert((int)HTTP_GZIP_KEY == (int)HLS_SESSION_KEY, "a key fills a hole");

/* Sends the shared compressed bytes; fills in the key of this player if the playlist has a gap for
 * it. */
static err_t send_packed(struct http_exchange *x, const struct hls_pack *p, const char *key)
{
    uint8_t *own = NULL;
    err_t err;

    http_response_add(x->resp, "Content-Encoding", "gzip");
    if (p->keyed.size > 0) {
        own = must(malloc(p->size));
        memcpy(own, p->data, p->size);
        http_gzip_fill(own, p->size, &p->keyed, key);
    }
    err = send_bytes(x, 200, own ? own : p->data, p->size);
    free(own);
    return err;
}

static err_t send_with_key(struct http_exchange *x, const struct hls_file *f, unsigned urls,
                           const char *key)
{
    struct wr w;
    err_t err;

    wr_init(&w, HLS_LIST_MAX);
    hls_pack_key(&w, f, urls, key);
    err = w.bad ? http_response_status(x->resp, 500) : send_bytes(x, 200, w.buf, w.len);
    wr_free(&w);
    return err;
}

/* Sends a playlist, with the key of the session in its URLs. */
static err_t send_playlist(struct http_exchange *x, struct hls_file *f,
                           const struct hls_session *session)
{
    unsigned urls = session ? urls_with_id(x->vhost) : 0;
    const struct hls_pack *p = NULL;
    err_t err = NULL;

    if (f->size >= GZIP_MIN && http_response_wants_gzip(x->resp, f->type))
        err = hls_pack_get(f, urls, &p);
    if (err)
        return err;
    if (p)
        return send_packed(x, p, session ? session->key : NULL);
    return urls ? send_with_key(x, f, urls, session->key) : send_bytes(x, 200, f->data, f->size);
}

static err_t send_file(struct http_exchange *x, struct hls_file *f,
                       const struct hls_session *session)
{
    char etag[32];

    (void)snprintf(etag, sizeof(etag), "\"%llx\"", (unsigned long long)f->etag);
    http_response_add(x->resp, "Content-Type", "%s", f->type);
    if (!http_response_has(x->resp, "Cache-Control"))
        http_response_add(x->resp, "Cache-Control", f->playlist ? "no-cache" : "max-age=60");
    /* A playlist changes more than once a second, and after the clock was set back its time could
     * be older than that of the player's copy. So only the ETag counts. */
    if (http_response_unchanged(x->resp, etag, f->playlist ? 0 : (time_t)(f->modified / 1000)))
        return http_response_send(x->resp, 304, "", 0);
    return f->playlist ? send_playlist(x, f, session) : send_range(x, f);
}

/* [HLS] bis 6.2.5.1. There are no date ranges, so v2 means the same as YES. */
static bool wants_update(const struct http_exchange *x)
{
    char text[8];
    const char *skip = http_url_param(x->req->query, "_HLS_skip", text, sizeof(text));

    return skip && (strcmp(skip, "YES") == 0 || strcmp(skip, "v2") == 0);
}

/* Returns the current playlist with a reference; NULL: it no longer exists. */
static struct hls_file *list_of(struct http_exchange *x, const struct hls_answer *a)
{
    if (a->file)
        return hls_file_ref(a->file);
    return wants_update(x) ? hls_find_update(a->h, a->path) : hls_find(a->h, a->path);
}

/* ------------------------------------------------------------ playlists on disk
 *
 * Playlists of streams that have ended, or of an earlier process. The last requested ones stay in
 * memory, so that all players share the bytes and the compressed form. A changed file is a new
 * entry.
 */

enum { CACHED_MAX = 512 * 1024 /* largest playlist in this cache, in bytes */ };

static struct hls_file *find_list(struct hls *h, const struct co_file *f)
{
    for (size_t i = 0; i < HLS_LIST_FILES; i++) {
        const struct hls_list_file *o = &h->sessions->lists[i];

        if (o->file && o->inode == f->inode && o->device == f->device &&
            o->mtime_ns == f->mtime_ns && o->file->size == (size_t)f->size)
            return hls_file_ref(o->file);
    }
    return NULL;
}

static void cache_list(struct hls *h, const struct co_file *f, struct hls_file *file)
{
    struct hls_list_file *o = &h->sessions->lists[h->sessions->next_list++ % HLS_LIST_FILES];

    (void)hls_file_unref(o->file);
    *o = (struct hls_list_file){ hls_file_ref(file), f->device, f->inode, f->mtime_ns };
}

static err_t read_list(struct hls_answer *a, const struct co_file *f)
{
    struct wr w;
    err_t err = NULL;

    wr_init(&w, HLS_LIST_MAX);
    if (f->size > 0) {
        err = co_file_read(f, 0, wr_reserve(&w, (size_t)f->size), (size_t)f->size);
        w.len = (size_t)f->size;
    }
    if (!err) {
        a->file = hls_file_new(a->h, &w, http_type_of(a->below));
        a->file->playlist = true;
        if (f->size <= CACHED_MAX)
            cache_list(a->h, f, a->file);
    }
    wr_free(&w);
    return err;
}

err_t hls_answer_read(struct hls_answer *a)
{
    struct co_file f = { .fd = -1 };
    err_t err = co_file_open(&f, a->folder, a->below);

    if (!err && (f.is_folder || f.size > HLS_LIST_MAX))
        err = err_new(ERR_NO_FILE, "not a playlist of at most %d bytes", HLS_LIST_MAX);
    if (!err)
        a->file = find_list(a->h, &f);
    if (!err && !a->file)
        err = read_list(a, &f);
    co_file_close(&f);
    return err;
}

/* ------------------------------------------------------------ rejections */

err_t hls_answer_denied(struct http_exchange *x, err_t err)
{
    int status = err_class(err) == ERR_CLASS_DENIED ? 403 : 503; /* 503: try again later */
    char text[300];

    if (err_class(err) == ERR_CLASS_STOP)
        return err;
    log_warn("HLS or DASH player is refused: %s", err_text(err, text, sizeof(text)));
    err_free(&err);
    return http_response_status(x->resp, status);
}

/* Checks each request for a playlist. With sessions the token is checked when the session starts,
 * without them in each request. */
static err_t allowed(struct http_exchange *x, const struct hls_answer *a, bool sessions)
{
    struct session_stream names = a->names;
    char *param;
    err_t err = http_exchange_allowed(x, CONF_PLAY);

    if (err || sessions)
        return err;
    param = must_print("?%s", x->req->query);
    names.param = param;
    names.ip = x->ip;
    err = tokens_check(x->env, x->vhost, CONF_PLAY, &names,
                       http_request_field(x->req, "Authorization"), NULL);
    free(param);
    return err;
}

err_t hls_answer_no_session(struct http_exchange *x, struct hls *h)
{
    if (!h->sessions->denied_at || co_now() - h->sessions->denied_at > LOG_EVERY)
        log_warn("HLS or DASH: %.200s is for players with a session, %s has none (for caches that "
                 "strip queries: hls_ts_ctx off, dash_ts_ctx off)", x->req->path, x->ip);
    h->sessions->denied_at = co_now();
    return http_response_status(x->resp, 403);
}

/* ------------------------------------------------------------ master playlists */

/* Writes the URL of the media playlist: its name relative to this one, or its whole path. */
static void put_child(struct http_exchange *x, const char *key, struct wr *w)
{
    const char *path = x->req->path, *slash = strrchr(path, '/');
    bool relative = x->vhost->hls.master_m3u8_path_relative;

    http_url_put_path(w, relative && slash ? slash + 1 : path);
    wr_bytes(w, "?hls_ctx=", 9);
    wr_bytes(w, key, strlen(key));
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
    put_child(x, session->key, &child);
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

/* ------------------------------------------------------------ media playlists */

static bool number(const struct http_exchange *x, const char *key, uint64_t *out)
{
    char text[24], *end;

    if (!http_url_param(x->req->query, key, text, sizeof(text)) || text[0] < '0' || text[0] > '9')
        return false;
    *out = strtoull(text, &end, 10);
    return *end == '\0';
}

/* Blocking reload, [HLS] bis 6.2.5.2. *status: the response if the wait failed, else 0. */
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

/* Sends the media playlist, with the session's key in its URLs. */
static err_t send_segments(struct http_exchange *x, const struct hls_answer *a,
                           const struct hls_session *session)
{
    struct hls_file *f = NULL;
    int status = 0;
    err_t err = a->file ? NULL : block(x, a->h, a->path, &status);

    if (err)
        return err;
    f = list_of(x, a);
    if (status || !f)
        err = http_response_status(x->resp, status ? status : 404);
    else
        err = send_file(x, f, session);
    (void)hls_file_unref(f);
    return err;
}

/* Starts a session for a player without one. A key of a removed session (the player paused for
 * long, or the server restarted) is used again; an invalid key is ignored. */
static err_t begin(struct http_exchange *x, const struct hls_answer *a, bool dash,
                   const char **key, struct hls_session **out)
{
    struct session_stream names = session_stream_copy(&a->names);
    err_t err = hls_session_begin(a->h, x, &names, dash, *key, out);

    if (err_code(err) == ERR_MALFORMED) {
        err_free(&err);
        *key = NULL;
        err = hls_session_begin(a->h, x, &names, dash, NULL, out);
    }
    session_stream_free(&names);
    return err;
}

/* Without keys in segment URLs, a repeated request for the playlist shows that the client plays. */
static void note_use(struct hls_session *session, bool media_has_key)
{
    if (!media_has_key && session->requests > 1)
        hls_session_used(session);
}

/* True for a request that does not start a player: HEAD, or a stream that does not exist. It is
 * authorized like a GET, so that it does not reveal which streams exist, but its session ends with
 * the response. */
static bool is_probe(const struct http_exchange *x, const struct hls_answer *a)
{
    return a->missing || x->req->verb == HTTP_VERB_HEAD;
}

/* ------------------------------------------------------------ MPDs */

/* Writes the Location of the next MPD: this URL with the session's key. */
static void put_location(const struct http_exchange *x, const char *key, struct wr *w)
{
    const char *slash = strrchr(x->req->path, '/');

    http_url_put_path(w, slash ? slash + 1 : x->req->path);
    wr_printf(w, "?hls_ctx=%s", key);
    hls_session_query(x->req->query, w);
    wr_u8(w, 0);
}

/* Sends an MPD with the current time, which lets players with a wrong clock find the live edge. So
 * each response differs and must not be cached. `pack`: its compressed form; NULL: send it
 * uncompressed. */
static err_t send_personal(struct http_exchange *x, const struct hls_file *f,
                           const struct hls_pack *pack, const struct mpd_personal *personal)
{
    struct wr w;
    err_t err;

    wr_init(&w, HLS_LIST_MAX);
    if (pack)
        hls_pack_personal(&w, pack, personal);
    else
        mpd_put_personal(&w, (const char *)f->data, f->size, personal);
    http_response_add(x->resp, "Content-Type", "%s", f->type);
    http_response_add(x->resp, "Cache-Control", "no-cache");
    if (pack && !w.bad)
        http_response_add(x->resp, "Content-Encoding", "gzip");
    err = w.bad ? http_response_status(x->resp, 500) : send_bytes(x, 200, w.buf, w.len);
    wr_free(&w);
    return err;
}

/* Current time by the clock of the stream. a->names may be stale: the stream may have ended while
 * the player was authorized. */
static int64_t now_of(const struct hls_answer *a)
{
    struct session_stream names = a->names;
    struct hls_stream *s = NULL;

    if (a->file || hls_names_of(a->h, a->path, &names))
        s = hls_stream_find(a->h, &names, &hls_formats[HLS_FORMAT_DASH]);
    return s ? hls_clock_now(&s->info.clock) : co_wall_ms();
}

static err_t send_mpd(struct http_exchange *x, const struct hls_answer *a, struct hls_file *f,
                      const struct hls_session *session)
{
    struct mpd_personal personal = { .now = now_of(a) };
    const struct hls_pack *pack = NULL;
    co_usec began = co_now();
    char query[HLS_SESSION_KEY + 16];
    struct wr url;
    err_t err = NULL;

    if (f->size >= GZIP_MIN && http_response_wants_gzip(x->resp, f->type))
        err = hls_pack_get(f, HLS_PACK_MPD, &pack);
    if (err)
        return err;
    personal.now += (co_now() - began) / 1000;
    wr_init(&url, URL_MAX * 4);
    if (session) {
        (void)snprintf(query, sizeof(query), "hls_ctx=%s", session->key);
        put_location(x, session->key, &url);
        personal.query = x->vhost->dash.ts_ctx ? query : NULL;
        personal.location = url.bad ? NULL : (const char *)url.buf;
    }
    err = send_personal(x, f, pack, &personal);
    wr_free(&url);
    return err;
}

static err_t find_mpd(struct http_exchange *x, const struct hls_answer *a,
                      const struct hls_session *session)
{
    struct hls_file *f = list_of(x, a);
    err_t err = f ? send_mpd(x, a, f, session) : http_response_status(x->resp, 404);

    (void)hls_file_unref(f);
    return err;
}

/* ------------------------------------------------------------ playlists and MPDs */

/* Sends the playlist or MPD to a session (NULL: to a client without one). An HLS player without a
 * key gets a master playlist with the key of its session. */
static err_t send_list_to(struct http_exchange *x, const struct hls_answer *a,
                          const struct hls_session *session, const char *key)
{
    if (a->missing && session)
        return http_response_status(x->resp, 404);
    if (a->sort == HLS_MPD)
        return find_mpd(x, a, session);
    return key || !session ? send_segments(x, a, session) : send_master(x, a->h, a->path, session);
}

static err_t send_list(struct http_exchange *x, const struct hls_answer *a)
{
    bool dash = a->sort == HLS_MPD;
    bool needs_session = dash ? hls_needs_session(x->vhost, HLS_MPD) : x->vhost->hls.ctx;
    char text[HLS_SESSION_KEY + 2];
    const char *key = hls_session_key(x, text);
    struct hls_session *session = NULL;
    err_t err = NULL;
    bool undo;

    if (needs_session || !dash)
        session = hls_session_of(a->h, x, &a->names, dash);
    if (!needs_session && !session)
        return send_list_to(x, a, NULL, key);
    undo = !session && is_probe(x, a);
    if (!session)
        err = begin(x, a, dash, &key, &session);
    if (err)
        return hls_answer_denied(x, err);
    if (!hls_session_hold(session))
        return http_response_status(x->resp, hls_session_denied_status(session));
    err = send_list_to(x, a, session, key);
    hls_session_release(session, x->resp->sent);
    note_use(session, dash ? x->vhost->dash.ts_ctx : x->vhost->hls.ts_ctx);
    if (undo)
        hls_session_undo(session);
    return err;
}

err_t hls_answer_list(struct http_exchange *x, struct hls_answer *a)
{
    err_t err;

    x->vhost = a->vhost;
    if (!a->vhost->enabled)
        return http_response_status(x->resp, 404);
    err = allowed(x, a, a->sort == HLS_MPD ? x->vhost->dash.ctx : x->vhost->hls.ctx);
    return err ? hls_answer_denied(x, err) : send_list(x, a);
}

/* ------------------------------------------------------------ segments and keys */

bool hls_needs_session(const struct conf_vhost *v, enum hls_sort sort)
{
    switch (sort) {
    case HLS_LIST:
    case HLS_KEY:
        return v->hls.ctx && session_play_is_asked(v);
    case HLS_MEDIA:
        return v->hls.ctx && v->hls.ts_ctx && session_play_is_asked(v);
    case HLS_MPD:
        return v->dash.ctx && session_play_is_asked(v);
    case HLS_DASH_MEDIA:
        return v->dash.ctx && v->dash.ts_ctx && session_play_is_asked(v);
    case HLS_FOREIGN:
        break;
    }
    return false;
}

/* Cache-Control of a file. Keys must not be cached, and files for one player not be shared. */
static const char *cache_of(const struct hls_answer *a, bool personal)
{
    if (a->sort == HLS_KEY)
        return "no-store";
    return personal ? "private, max-age=60" : "max-age=60";
}

/* Sends the file from memory, or from disk. */
static err_t send_media(struct http_exchange *x, const struct hls_answer *a, const char *cache)
{
    err_t err = hls_wait_file(a->h, a->path, BLOCK_MAX);
    struct hls_file *f = err ? NULL : hls_find(a->h, a->path);

    if (err_class(err) == ERR_CLASS_STOP)
        return err;
    err_free(&err);
    if (!f)
        return http_static_serve(x, a->folder, a->below, cache);
    http_response_add(x->resp, "Cache-Control", "%s", cache);
    err = send_file(x, f, NULL);
    (void)hls_file_unref(f);
    return err;
}

err_t hls_answer_media(struct http_exchange *x, const struct hls_answer *a,
                       struct hls_session *session)
{
    bool needs_session = hls_needs_session(a->vhost, a->sort);
    err_t err = conf_security_check(&a->vhost->security, CONF_PLAY, x->ip);

    if (err)
        return hls_answer_denied(x, err);
    if (needs_session && !session)
        return hls_answer_no_session(x, a->h);
    if (session && !hls_session_hold(session))
        return http_response_status(x->resp, hls_session_denied_status(session));
    err = send_media(x, a, cache_of(a, needs_session || session));
    if (session && (x->resp->status == 200 || x->resp->status == 206))
        hls_session_used(session);
    if (session)
        hls_session_release(session, x->resp->sent);
    return err;
}
