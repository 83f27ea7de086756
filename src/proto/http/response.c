/* SPDX-License-Identifier: MIT */
/* response.c - writes one HTTP/1.1 response. */
#include "proto/http/response.h"

#include "base/text.h"
#include "proto/http/gzip.h"
#include "proto/http/url.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- names of status codes, types of files, and the time of day */

static const struct {
    int status;
    const char *text;
} statuses[] = {
    { 100, "Continue" }, { 101, "Switching Protocols" }, { 200, "OK" }, { 201, "Created" },
    { 202, "Accepted" }, { 204, "No Content" }, { 206, "Partial Content" },
    { 301, "Moved Permanently" }, { 302, "Found" }, { 303, "See Other" },
    { 304, "Not Modified" }, { 307, "Temporary Redirect" }, { 308, "Permanent Redirect" },
    { 400, "Bad Request" }, { 401, "Unauthorized" }, { 403, "Forbidden" }, { 404, "Not Found" },
    { 405, "Method Not Allowed" }, { 406, "Not Acceptable" }, { 408, "Request Timeout" },
    { 409, "Conflict" }, { 410, "Gone" }, { 411, "Length Required" },
    { 412, "Precondition Failed" }, { 413, "Content Too Large" }, { 414, "URI Too Long" },
    { 415, "Unsupported Media Type" }, { 416, "Range Not Satisfiable" },
    { 417, "Expectation Failed" }, { 426, "Upgrade Required" }, { 429, "Too Many Requests" },
    { 431, "Request Header Fields Too Large" }, { 500, "Internal Server Error" },
    { 501, "Not Implemented" }, { 502, "Bad Gateway" }, { 503, "Service Unavailable" },
    { 504, "Gateway Timeout" }, { 505, "HTTP Version Not Supported" },
};

const char *http_status_text(int status)
{
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        if (statuses[i].status == status)
            return statuses[i].text;
    }
    return "Status";
}

static const struct {
    const char *end, *type;
} types[] = {
    { ".m3u8", "application/vnd.apple.mpegurl" }, { ".ts", "video/MP2T" },
    { ".m4s", "video/iso.segment" }, { ".mp4", "video/mp4" }, { ".m4v", "video/mp4" },
    { ".m4a", "audio/mp4" }, { ".flv", "video/x-flv" }, { ".mpd", "application/dash+xml" },
    { ".html", "text/html;charset=utf-8" }, { ".htm", "text/html;charset=utf-8" },
    { ".js", "text/javascript;charset=utf-8" }, { ".mjs", "text/javascript;charset=utf-8" },
    { ".css", "text/css;charset=utf-8" }, { ".json", "application/json;charset=utf-8" },
    { ".txt", "text/plain;charset=utf-8" }, { ".xml", "text/xml;charset=utf-8" },
    { ".svg", "image/svg+xml" }, { ".png", "image/png" }, { ".jpg", "image/jpeg" },
    { ".jpeg", "image/jpeg" }, { ".gif", "image/gif" }, { ".webp", "image/webp" },
    { ".ico", "image/x-icon" }, { ".wasm", "application/wasm" }, { ".woff2", "font/woff2" },
    { ".woff", "font/woff" }, { ".ttf", "font/ttf" }, { ".mp3", "audio/mpeg" },
    { ".aac", "audio/aac" }, { ".ogg", "audio/ogg" }, { ".wav", "audio/wav" },
    { ".webm", "video/webm" }, { ".mkv", "video/x-matroska" }, { ".pdf", "application/pdf" },
    { ".map", "application/json;charset=utf-8" }, { ".swf", "application/x-shockwave-flash" },
    { ".key", "application/octet-stream" },
};

const char *http_type_of(const char *path)
{
    const char *name = strrchr(path, '/');
    const char *dot = strrchr(name ? name : path, '.');

    for (size_t i = 0; dot && i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcasecmp(types[i].end, dot) == 0)
            return types[i].type;
    }
    return "application/octet-stream";
}

/* Not strftime() and strptime(): the names are English in any locale. */
static const char days[] = "SunMonTueWedThuFriSat";
static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

const char *http_date_put(char buf[HTTP_DATE_SIZE], time_t t)
{
    struct tm tm = { 0 };

    (void)gmtime_r(&t, &tm);
    (void)snprintf(buf, HTTP_DATE_SIZE, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
                   days + (size_t)tm.tm_wday % 7 * 3, tm.tm_mday % 100,
                   months + (size_t)tm.tm_mon % 12 * 3, (tm.tm_year + 1900) % 10000,
                   tm.tm_hour % 100, tm.tm_min % 100, tm.tm_sec % 100);
    return buf;
}

/* Each part has a fixed position: "Sun, 06 Nov 1994 08:49:37 GMT". */
time_t http_date_get(const char *text)
{
    struct tm tm = { 0 };
    const char *month;

    if (strlen(text) != 29 || strcmp(text + 25, " GMT") != 0 || text[3] != ',')
        return -1;
    for (month = months; *month && strncmp(month, text + 8, 3) != 0; month += 3)
        ;
    tm.tm_mday = (int)text_number(text + 5, 2, 9999);
    tm.tm_mon = (int)(month - months) / 3;
    tm.tm_year = (int)text_number(text + 12, 4, 9999) - 1900;
    tm.tm_hour = (int)text_number(text + 17, 2, 9999);
    tm.tm_min = (int)text_number(text + 20, 2, 9999);
    tm.tm_sec = (int)text_number(text + 23, 2, 9999);
    if (!*month || tm.tm_mday < 1 || tm.tm_year < 0 || tm.tm_hour < 0 || tm.tm_min < 0 ||
        tm.tm_sec < 0)
        return -1;
    return timegm(&tm);
}

const char *http_clock_text(struct http_clock *c)
{
    time_t now = time(NULL);

    if (now != c->at || !c->text[0]) {
        c->at = now;
        (void)http_date_put(c->text, now);
    }
    return c->text;
}

enum {
    HEAD_MAX = 64 * 1024, FIELD_MAX = 4096,
    GZIP_LEAST = 1024, GZIP_MOST = 8 * 1024, /* compressed per response: a quarter of a
                                              * millisecond */
};

void http_response_init(struct http_response *r, struct io *io, const struct http_request *req,
                        const char *server, const char *date)
{
    *r = (struct http_response){ .io = io, .req = req, .server = server, .date = date };
    r->close = !req || !req->keep_alive;
    wr_init(&r->fields, HEAD_MAX);
    wr_init(&r->head, HEAD_MAX);
}

void http_response_fini(struct http_response *r)
{
    wr_free(&r->fields);
    wr_free(&r->head);
}

/* Drops control characters: a line break would start another field. */
static void put_value(struct wr *w, const char *value)
{
    size_t left = FIELD_MAX - 1;

    while (*value && left > 0) {
        size_t n = 0;

        while (n < left && (unsigned char)value[n] >= ' ' && value[n] != 0x7f)
            n++;
        wr_bytes(w, value, n);
        left -= n;
        value += n;
        value += *value && left > 0;
    }
}

void http_response_add(struct http_response *r, const char *name, const char *fmt, ...)
{
    char buf[FIELD_MAX];
    const char *value = buf;
    va_list ap;

    va_start(ap, fmt);
    if (strcmp(fmt, "%s") == 0) /* most values are plain strings */
        value = va_arg(ap, const char *);
    else
        (void)vsnprintf(buf, sizeof(buf), fmt, ap);
    va_end(ap);
    wr_text(&r->fields, name);
    wr_text(&r->fields, ": ");
    put_value(&r->fields, value);
    wr_text(&r->fields, "\r\n");
}

void http_response_add_lines(struct http_response *r, const char *lines)
{
    wr_text(&r->fields, lines);
}

bool http_response_has(const struct http_response *r, const char *name)
{
    size_t size = strlen(name), at = 0;

    while (at < r->fields.len) {
        const char *line = (const char *)r->fields.buf + at;
        const char *end = memchr(line, '\n', r->fields.len - at);

        if (r->fields.len - at > size && line[size] == ':' && strncasecmp(line, name, size) == 0)
            return true;
        if (!end)
            break;
        at += (size_t)(end - line) + 1;
    }
    return false;
}

static bool has_no_body(int status)
{
    return status < 200 || status == 204 || status == 304;
}

err_t http_response_begin(struct http_response *r, int status, int64_t length)
{
    char text[160];

    r->status = status;
    r->no_body = has_no_body(status) || (r->req && r->req->verb == HTTP_VERB_HEAD);
    if (length == HTTP_CHUNKED && (!r->req || r->req->version < 11))
        length = HTTP_TO_CLOSE;
    if (length == HTTP_TO_CLOSE && !has_no_body(status))
        r->close = true;
    r->chunked = length == HTTP_CHUNKED && !has_no_body(status);
    r->left = length >= 0 ? length : INT64_MAX;
    (void)snprintf(text, sizeof(text), "HTTP/1.1 %d %s\r\nServer: ", status,
                   http_status_text(status));
    wr_text(&r->head, text);
    wr_text(&r->head, r->server);
    wr_text(&r->head, "\r\nDate: ");
    wr_text(&r->head, r->date);
    wr_text(&r->head, "\r\n");
    wr_bytes(&r->head, r->fields.buf, r->fields.len);
    wr_free(&r->fields);
    if (r->chunked) {
        wr_text(&r->head, "Transfer-Encoding: chunked\r\n");
    } else if (length >= 0 && !has_no_body(status)) {
        (void)snprintf(text, sizeof(text), "Content-Length: %lld\r\n", (long long)length);
        wr_text(&r->head, text);
    }
    if (status != 101)
        wr_text(&r->head, r->close ? "Connection: close\r\n\r\n"
                                   : "Connection: keep-alive\r\n\r\n");
    else
        wr_text(&r->head, "\r\n");
    return wr_err(&r->head, "head of a response");
}

static err_t send_pieces(struct http_response *r, struct iovec *iov, int count)
{
    struct iovec all[4];
    int n = 0;
    err_t err;

    if (r->head.len > 0)
        all[n++] = (struct iovec){ r->head.buf, r->head.len };
    for (int i = 0; i < count; i++)
        all[n++] = iov[i];
    err = n > 0 ? io_writev(r->io, all, n) : NULL;
    wr_free(&r->head);
    return err ? err_wrap(err, "response") : NULL;
}

err_t http_response_flush(struct http_response *r)
{
    return send_pieces(r, NULL, 0);
}

void http_response_count(struct http_response *r, size_t n)
{
    r->left -= (int64_t)n;
    r->sent += n;
}

err_t http_response_write(struct http_response *r, const void *data, size_t size)
{
    char line[24];
    struct iovec iov[3];
    int n = 0;

    if (size == 0 || r->no_body)
        return NULL;
    if ((uint64_t)size > (uint64_t)r->left)
        return err_new(ERR_HTTP, "%zu bytes more than the announced length",
                       size - (size_t)r->left);
    if (r->chunked)
        iov[n++] = (struct iovec){ line, (size_t)snprintf(line, sizeof(line), "%zx\r\n", size) };
    iov[n++] = (struct iovec){ (void *)(uintptr_t)data, size };
    if (r->chunked)
        iov[n++] = (struct iovec){ (void *)(uintptr_t)"\r\n", 2 };
    http_response_count(r, size);
    return send_pieces(r, iov, n);
}

err_t http_response_end(struct http_response *r)
{
    struct iovec last = { (void *)(uintptr_t)"0\r\n\r\n", 5 };

    if (r->ended)
        return NULL;
    r->ended = true;
    if (!r->no_body && !r->chunked && r->left > 0 && r->left != INT64_MAX && !r->close)
        r->close = true; /* the body is shorter than its length: only closing reveals it */
    return send_pieces(r, &last, r->chunked && !r->no_body);
}

/* ---- the whole response at once */

bool http_response_wants_gzip(struct http_response *r, const char *type)
{
    static const char *const texts[] = { "text/", "application/json", "application/javascript",
                                         "application/vnd.apple.mpegurl", "application/dash+xml",
                                         "image/svg+xml" };
    bool text = false;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        text |= strncmp(type, texts[i], strlen(texts[i])) == 0;
    if (!text)
        return false;
    if (!http_response_has(r, "Vary"))
        http_response_add(r, "Vary", "Accept-Encoding");
    return r->req && r->req->version >= 11 && http_request_has(r->req, "Accept-Encoding", "gzip");
}

/* Copies the content type that was added, to check whether it is a text. */
static void added_type(const struct http_response *r, char *buf, size_t size)
{
    const char *p = r->fields.buf ? memmem(r->fields.buf, r->fields.len, "Content-Type: ", 14)
                                  : NULL;

    (void)snprintf(buf, size, "%.*s", p ? (int)strcspn(p + 14, "\r") : 0, p ? p + 14 : "");
}

err_t http_response_send(struct http_response *r, int status, const void *body, size_t size)
{
    char type[128] = "";
    struct wr packed;
    err_t err;

    wr_init(&packed, size);
    if (size >= GZIP_LEAST && size <= GZIP_MOST && status == 200)
        added_type(r, type, sizeof(type));
    if (type[0] && http_response_wants_gzip(r, type) && http_gzip(&packed, body, size)) {
        http_response_add(r, "Content-Encoding", "gzip");
        body = packed.buf;
        size = packed.len;
    }
    err = http_response_begin(r, status, (int64_t)size);
    if (!err)
        err = http_response_write(r, body, size);
    if (!err)
        err = http_response_end(r);
    wr_free(&packed);
    return err;
}

err_t http_response_status(struct http_response *r, int status)
{
    char text[128];
    int n = snprintf(text, sizeof(text), "%d %s\n", status, http_status_text(status));

    if (has_no_body(status))
        n = 0;
    else
        http_response_add(r, "Content-Type", "text/plain;charset=utf-8");
    return http_response_send(r, status, text, (size_t)n);
}

err_t http_response_redirect(struct http_response *r, const char *path, const char *query)
{
    struct wr to;
    err_t err;

    wr_init(&to, FIELD_MAX - 1);
    http_url_put_path(&to, path);
    if (*query) {
        wr_u8(&to, '?');
        wr_text(&to, query);
    }
    err = wr_err(&to, "Location");
    if (!err) {
        http_response_add(r, "Location", "%.*s", (int)to.len, (const char *)to.buf);
        err = http_response_status(r, 302);
    }
    wr_free(&to);
    return err;
}

/* ---- conditions */

/* Checks whether the list `"a", W/"b"` contains the tag, or is `*`. Weak comparison, RFC 9110
 * 8.8.3.2. */
static bool has_tag(const char *list, const char *etag)
{
    const char *want = strncmp(etag, "W/", 2) == 0 ? etag + 2 : etag;
    size_t size = strlen(want);

    if (strcmp(list, "*") == 0)
        return true;
    for (const char *p = strchr(list, '"'); p;) {
        const char *end = strchr(p + 1, '"');

        if (!end)
            return false;
        if ((size_t)(end + 1 - p) == size && strncmp(p, want, size) == 0)
            return true;
        p = strchr(end + 1, '"');
    }
    return false;
}

bool http_response_unchanged(struct http_response *r, const char *etag, time_t mtime)
{
    const char *tags = http_request_field(r->req, "If-None-Match");
    const char *since = http_request_field(r->req, "If-Modified-Since");
    char date[HTTP_DATE_SIZE];
    time_t t;

    http_response_add(r, "ETag", "%s", etag);
    if (mtime > 0)
        http_response_add(r, "Last-Modified", "%s", http_date_put(date, mtime));
    if (r->req->verb != HTTP_VERB_GET && r->req->verb != HTTP_VERB_HEAD)
        return false;
    if (tags)
        return has_tag(tags, etag);
    t = since && mtime > 0 ? http_date_get(since) : -1;
    return t >= 0 && mtime <= t;
}
