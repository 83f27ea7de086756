/* SPDX-License-Identifier: MIT */
/* static.c - files over HTTP. */
#include "serve/http/static.h"

#include "base/mem.h"
#include "base/must.h"
#include "format/flv/flv.h"
#include "proto/http/range.h"
#include "proto/http/url.h"
#include "serve/http/mux.h"
#include "serve/http/packed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { GZIP_MIN = 1024, GZIP_MAX = 2 * 1024 * 1024, SMALL = 32 * 1024 };

/* ---- a file */

/* One read and one write cost less than sending from the page cache. */
static err_t send_small(struct http_exchange *x, const struct co_file *f, int64_t begin,
                        int64_t end)
{
    size_t size = (size_t)(end - begin);
    uint8_t *buf = must(malloc(size + 1));
    err_t err;

    err = co_file_read(f, begin, buf, size);
    if (!err)
        err = http_response_write(x->resp, buf, size);
    free(buf);
    return err ? err : http_response_end(x->resp);
}

static err_t send_part(struct http_exchange *x, const struct co_file *f, int status,
                       int64_t begin, int64_t end)
{
    err_t err = http_response_begin(x->resp, status, end - begin);

    if (err || x->resp->no_body)
        return err;
    if (end - begin <= SMALL)
        return send_small(x, f, begin, end);
    x->io->more = true;
    err = http_response_flush(x->resp);
    x->io->more = false;
    if (!err)
        err = co_file_send(f, x->io, begin, end - begin);
    http_response_count(x->resp, (size_t)(end - begin));
    return err ? err : http_response_end(x->resp);
}

static err_t send_packed(struct http_exchange *x, const struct http_packed *p)
{
    err_t err;

    http_response_add(x->resp, "Content-Encoding", "gzip");
    err = http_response_begin(x->resp, 200, (int64_t)p->size);
    if (!err)
        err = http_response_write(x->resp, p->data, p->size);
    return err ? err : http_response_end(x->resp);
}

/* Sends a text compressed if the cache has it or can add it now. */
static err_t send_text(struct http_exchange *x, const struct co_file *f)
{
    struct http_packed *p;
    err_t err = http_packed_get(x->env->packs, f, &p);

    if (err)
        return err;
    err = p ? send_packed(x, p) : send_part(x, f, 200, 0, f->size);
    (void)http_packed_unref(p);
    return err;
}

/* Returns true if Range applies: If-Range is absent or matches the file. RFC 9110 13.1.5. */
static bool range_counts(const struct http_request *req, const char *etag, time_t mtime)
{
    const char *cond = http_request_field(req, "If-Range");

    return !cond || strcmp(cond, etag) == 0 || (cond[0] != '"' && http_date_get(cond) == mtime);
}

static enum http_range range_of(const struct http_exchange *x, const struct co_file *f,
                                const char *etag, int64_t *begin, int64_t *end)
{
    static const char *const keys[] = { "range", "bytes" };
    const char *path = x->req->path, *dot = strrchr(path, '.');
    char text[64];

    if (range_counts(x->req, etag, (time_t)(f->mtime_ns / 1000000000))) {
        const char *field = http_request_field(x->req, "Range");

        if (field)
            return http_range_parse(field, f->size, begin, end);
    }
    for (size_t i = 0; dot && strcasecmp(dot, ".mp4") == 0 && i < 2; i++) {
        if (http_url_param(x->req->query, keys[i], text, sizeof(text)))
            return http_range_query(text, f->size, begin, end);
    }
    return HTTP_RANGE_ALL;
}

static err_t send_bad_range(struct http_exchange *x, const struct co_file *f)
{
    http_response_add(x->resp, "Content-Range", "bytes */%lld", (long long)f->size);
    return http_response_status(x->resp, 416);
}

/* ---- FLV files from a byte offset, as players seek: `?start=` */

enum {
    CONFIG_SEARCH = 256 * 1024, /* the codec configurations are at the start, or missing */
    TAGS = 32,
    FIRST = FLV_FILE_HEADER + FLV_TAG_TRAILER,
};

static bool is_config(uint8_t type, const uint8_t *body, size_t size)
{
    struct flv_body b = { 0 };
    err_t err = NULL;

    if (type == FLV_DATA)
        return true;
    if (type == FLV_VIDEO)
        err = flv_video_parse(&b, body, size);
    else if (type == FLV_AUDIO)
        err = flv_audio_parse(&b, body, size);
    if (err) {
        err_free(&err);
        return false;
    }
    return b.config;
}

/* Returns the offset of the first tag that is not a codec configuration or metadata. */
static size_t configs_end(const uint8_t *buf, size_t size)
{
    size_t at = FIRST;

    for (int i = 0; i < TAGS; i++) {
        struct rd r = rd_init(buf + at, size - at);
        struct flv_tag tag;
        const uint8_t *body;
        err_t err = flv_tag_parse(&tag, &r);

        body = err ? NULL : rd_take(&r, tag.size);
        err_free(&err);
        (void)rd_u32(&r);
        if (!body || r.bad || !is_config(tag.type, body, tag.size))
            break;
        at += FLV_TAG_HEADER + tag.size + FLV_TAG_TRAILER;
    }
    return at;
}

/* Sends the file header, metadata and codec configurations, then everything from `start`, where a
 * tag begins (from the index of key frames in the file). A start outside the file means the
 * begin. */
static err_t send_flv_from(struct http_exchange *x, const struct co_file *f, int64_t start)
{
    size_t size = f->size < CONFIG_SEARCH ? (size_t)f->size : CONFIG_SEARCH, head = 0;
    uint8_t *buf = mem_try(size + 1);
    err_t err;

    if (!buf)
        return err_new(ERR_NO_MEMORY, "no memory for %zu bytes of a file", size);
    err = co_file_read(f, 0, buf, size);
    if (!err && size >= FIRST)
        head = configs_end(buf, size);
    if (start < (int64_t)head || start > f->size) {
        start = 0;
        head = 0;
    }
    if (!err)
        err = http_response_begin(x->resp, 200, (int64_t)head + f->size - start);
    if (!err && head > 0)
        err = http_response_write(x->resp, buf, head);
    free(buf);
    if (!err)
        err = http_response_flush(x->resp);
    if (err || x->resp->no_body)
        return err;
    err = co_file_send(f, x->io, start, f->size - start);
    http_response_count(x->resp, (size_t)(f->size - start));
    return err ? err : http_response_end(x->resp);
}

static bool is_flv(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && strcasecmp(dot, ".flv") == 0;
}

/* The Cache-Control of a file, by its extension. Segments never change, playlists change with each
 * segment, keys are for one player. */
static const char *cache_of(const char *path)
{
    static const struct {
        const char *end, *cache;
    } rows[] = { { ".ts", "max-age=60" }, { ".m4s", "max-age=60" }, { ".m3u8", "no-cache" },
                 { ".mpd", "no-cache" }, { ".key", "no-store" } };
    const char *dot = strrchr(path, '.');

    for (size_t i = 0; dot && i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcasecmp(dot, rows[i].end) == 0)
            return rows[i].cache;
    }
    return NULL;
}

static void add_cache(struct http_exchange *x, const char *path, const char *cache)
{
    if (!cache)
        cache = cache_of(path);
    if (cache && !http_response_has(x->resp, "Cache-Control"))
        http_response_add(x->resp, "Cache-Control", "%s", cache);
}

static err_t send_unchanged(struct http_exchange *x, const char *path, const char *cache)
{
    add_cache(x, path, cache);
    return http_response_send(x->resp, 304, "", 0);
}

/* Sends an open file with conditions, ranges, and compression of texts. `path` determines its type;
 * a Content-Type that was added before wins. Yields. */
static err_t http_static_send(struct http_exchange *x, const struct co_file *f, const char *path,
                              const char *cache)
{
    const char *type = http_type_of(path);
    char etag[64], start[32];
    int64_t begin = 0, end = f->size;
    enum http_range range;

    (void)snprintf(etag, sizeof(etag), "\"%llx-%llx-%llx\"", (unsigned long long)f->inode,
                   (unsigned long long)f->mtime_ns, (unsigned long long)f->size);
    if (!http_response_has(x->resp, "Content-Type"))
        http_response_add(x->resp, "Content-Type", "%s", type);
    if (http_response_unchanged(x->resp, etag, (time_t)(f->mtime_ns / 1000000000)))
        return send_unchanged(x, path, cache);
    http_response_add(x->resp, "Accept-Ranges", "bytes");
    if (is_flv(path) && http_url_param(x->req->query, "start", start, sizeof(start)))
        return send_flv_from(x, f, strtoll(start, NULL, 10));
    range = range_of(x, f, etag, &begin, &end);
    if (range == HTTP_RANGE_BAD)
        return send_bad_range(x, f);
    add_cache(x, path, cache);
    if (range == HTTP_RANGE_PART) {
        http_response_add(x->resp, "Content-Range", "bytes %lld-%lld/%lld", (long long)begin,
                          (long long)end - 1, (long long)f->size);
        return send_part(x, f, 206, begin, end);
    }
    if (f->size >= GZIP_MIN && f->size <= GZIP_MAX &&
        http_response_wants_gzip(x->resp, type) && x->req->verb == HTTP_VERB_GET)
        return send_text(x, f);
    return send_part(x, f, 200, 0, f->size);
}

/* ---- finding files */

static err_t open_index(struct co_file *f, const char *folder, const char *path)
{
    static const char *const names[] = { "index.html", "index.htm" };
    err_t err = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *name;

        err_free(&err);
        name = must_print("%s%s", path, names[i]);
        err = co_file_open(f, folder, name);
        free(name);
        if (!err && !f->is_folder)
            return NULL;
        if (!err) {
            co_file_close(f);
            err = err_new(ERR_NO_FILE, "the index is a folder");
        }
    }
    return err;
}

bool http_static_is_hidden(const char *path)
{
    while (*(path += strspn(path, "/"))) {
        size_t n = strcspn(path, "/");

        if (*path == '.' || (n >= 4 && memcmp(path + n - 4, ".tmp", 4) == 0))
            return true;
        path += n;
    }
    return false;
}

err_t http_static_serve(struct http_exchange *x, const char *folder, const char *path,
                        const char *cache)
{
    size_t size = strlen(path);
    bool slash = size == 0 || path[size - 1] == '/';
    struct co_file f = { .fd = -1 };
    err_t err;

    if (http_static_is_hidden(path))
        return http_response_status(x->resp, 404);
    err = slash ? open_index(&f, folder, path) : co_file_open(&f, folder, path);

    if (!err && f.is_folder)
        err = http_mux_to_slash(x);
    else if (!err)
        err = http_static_send(x, &f, slash ? "index.html" : path, cache);
    else if (err_code(err) == ERR_NO_FILE) {
        err_free(&err);
        err = http_response_status(x->resp, 404);
    }
    co_file_close(&f);
    return err;
}

/* Returns the part of the path below the mount "[vhost]/x/", or NULL. */
static const char *below(const struct http_exchange *x, const char *mount)
{
    size_t host = strcspn(mount, "/"), size;

    if (host && !(host == 7 && strncmp(mount, "[vhost]", 7) == 0) &&
        (strlen(x->req->host) != host || strncasecmp(mount, x->req->host, host) != 0))
        return NULL;
    mount += host;
    size = strlen(mount);
    if (size == 0)
        return x->req->path;
    if (mount[size - 1] == '/')
        size--; /* the path must have this slash */
    if (strncmp(x->req->path, mount, size) != 0 || x->req->path[size] != '/')
        return NULL;
    return x->req->path + size;
}

const char *http_static_locate(const struct http_exchange *x, const char **path)
{
    const struct conf_vhost *v = x->vhost;

    *path = NULL;
    if (v && v->enabled && v->http_static.enabled)
        *path = below(x, v->http_static.mount);
    if (*path)
        return v->http_static.dir;
    *path = x->req->path;
    return x->conf->http_server.dir;
}

static err_t answer(struct http_exchange *x, void *arg)
{
    const char *path, *folder = http_static_locate(x, &path);

    (void)arg;
    return http_static_serve(x, folder, path, x->cache);
}

void http_static_mount(struct http_mux *mux)
{
    (void)http_mux_add(mux, &(struct http_mount){ .pattern = "/", .handler = answer,
                                                  .methods = 1u << HTTP_VERB_GET,
                                                  .ports = HTTP_PORT_SERVER });
}
