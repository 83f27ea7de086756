/* SPDX-License-Identifier: MIT */
/* request.c - reads HTTP/1.x requests from a pipe. */
#include "proto/http/request.h"

#include "base/mem.h"
#include "base/must.h"
#include "base/text.h"
#include "proto/http/url.h"

#include <http_parser.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HTTP_PHASE_LINE, HTTP_PHASE_BODY, HTTP_PHASE_DONE };

/* ---- parser callbacks */

enum {
    SPAN = 4,         /* numbers per field: begin and end of its name and of its value */
    BODY_ROOM = 4096, /* room for the body after the head, which no longer moves */
};

static uint32_t offset_of(const struct http_reader *r, const char *at)
{
    return (uint32_t)(at - (const char *)r->buf);
}

/* ---- callbacks: a non-zero result ends the parse; r->status holds the reason */

static int on_url(http_parser *p, const char *at, size_t size)
{
    struct http_reader *r = p->data;

    if (r->target_end == 0)
        r->target_at = offset_of(r, at);
    r->target_end = offset_of(r, at + size);
    if (r->target_end - r->target_at > r->limits->max_line)
        r->status = 414;
    return r->status;
}

static bool more_spans(struct http_reader *r)
{
    unsigned cap = r->spans_cap ? r->spans_cap * 2 : 16;
    uint32_t *spans = mem_try_more(r->spans, cap * SPAN * sizeof(*spans));

    if (!spans)
        return false;
    r->spans = spans;
    r->spans_cap = cap;
    return true;
}

static int on_name(http_parser *p, const char *at, size_t size)
{
    struct http_reader *r = p->data;
    uint32_t *last = r->n_spans ? r->spans + (r->n_spans - 1) * SPAN : NULL;

    if (r->phase != HTTP_PHASE_LINE) /* a trailer of a chunked body: ignored */
        return 0;
    if (last && last[1] == offset_of(r, at) && last[3] == 0) { /* continuation of the name */
        last[1] += (uint32_t)size;
        return 0;
    }
    if (r->n_spans == r->limits->max_fields)
        return r->status = 431;
    if (r->n_spans == r->spans_cap && !more_spans(r))
        return r->status = 503;
    last = r->spans + r->n_spans++ * SPAN;
    last[0] = offset_of(r, at);
    last[1] = offset_of(r, at + size);
    last[2] = last[3] = 0;
    return 0;
}

static int on_value(http_parser *p, const char *at, size_t size)
{
    struct http_reader *r = p->data;
    uint32_t *last;

    if (r->phase != HTTP_PHASE_LINE || r->n_spans == 0)
        return 0;
    last = r->spans + (r->n_spans - 1) * SPAN;
    if (last[3] == 0) {
        last[2] = offset_of(r, at);
        last[3] = offset_of(r, at + size);
    } else if (last[3] == offset_of(r, at)) {
        last[3] += (uint32_t)size;
    } else { /* RFC 9112 5.2: folded lines are refused */
        return r->status = 400;
    }
    return 0;
}

static int on_head(http_parser *p)
{
    struct http_reader *r = p->data;

    r->phase = HTTP_PHASE_BODY;
    http_parser_pause(p, 1);
    return 0;
}

static int on_body(http_parser *p, const char *at, size_t size)
{
    struct http_reader *r = p->data;

    memcpy(r->body + r->body_size, at, size);
    r->body_size += size;
    return 0;
}

static int on_end(http_parser *p)
{
    struct http_reader *r = p->data;

    r->phase = HTTP_PHASE_DONE;
    http_parser_pause(p, 1);
    return 0;
}

static const http_parser_settings settings = {
    .on_url = on_url, .on_header_field = on_name, .on_header_value = on_value,
    .on_headers_complete = on_head, .on_body = on_body, .on_message_complete = on_end,
};

/* Parses at most `size` bytes; returns the number of bytes parsed. */
static size_t http_head_execute(struct http_reader *r, size_t size)
{
    http_parser_pause(r->parser, 0);
    return http_parser_execute(r->parser, &settings, (const char *)r->buf + r->parsed, size);
}

/* Returns the parser's error, with r->status set. */
static err_t http_head_error(struct http_reader *r)
{
    enum http_errno e = HTTP_PARSER_ERRNO(r->parser);

    if (e == HPE_OK || e == HPE_PAUSED)
        return NULL;
    if (r->status == 503)
        return err_new(ERR_NO_MEMORY, "%u fields", r->n_spans);
    if (r->status == 431)
        return err_new(ERR_TOO_MANY, "over %u fields", r->limits->max_fields);
    if (r->status == 414)
        return err_new(ERR_TOO_LARGE, "target of over %zu bytes", r->limits->max_line);
    if (r->status == 0)
        r->status = e == HPE_INVALID_VERSION ? 505 : e == HPE_HEADER_OVERFLOW ? 431 : 400;
    return err_new(ERR_HTTP, "%s", http_errno_description(e));
}

/* Parses the unparsed bytes. When the head is complete, the phase is HTTP_PHASE_BODY. */
static err_t http_head_feed(struct http_reader *r)
{
    r->parsed += http_head_execute(r, r->end - r->parsed);
    return http_head_error(r);
}

/* ---- the request */

static enum http_verb verb_of(const char *method)
{
    static const char *const names[] = { "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH",
                                         "OPTIONS" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(method, names[i]) == 0)
            return (enum http_verb)i;
    }
    return HTTP_VERB_OTHER;
}

/* Returns a string of the head. Overwrites the separator after it with a zero. */
static char *string(struct http_reader *r, uint32_t at, uint32_t end)
{
    static const char empty[1];

    if (end <= at)
        return (char *)(uintptr_t)empty;
    while (end > at && (r->buf[end - 1] == ' ' || r->buf[end - 1] == '\t'))
        end--;
    r->buf[end] = '\0';
    return (char *)r->buf + at;
}

static err_t no_memory(struct http_reader *r, size_t size)
{
    r->status = 503;
    return err_new(ERR_NO_MEMORY, "%zu bytes for a request", size);
}

/* Enlarges the buffer to `cap` bytes. ERR_NO_MEMORY, status 503. */
static err_t http_head_room(struct http_reader *r, size_t cap)
{
    uint8_t *buf = mem_try_more(r->buf, cap);

    if (!buf)
        return no_memory(r, cap);
    r->buf = buf;
    r->cap = cap;
    return NULL;
}

static err_t set_fields(struct http_reader *r)
{
    struct http_request *q = &r->req;
    size_t size = (r->n_spans + 1) * sizeof(*q->fields);

    q->fields = mem_try(size);
    if (!q->fields)
        return no_memory(r, size);
    q->n_fields = r->n_spans;
    for (unsigned i = 0; i < r->n_spans; i++) {
        const uint32_t *s = r->spans + i * SPAN;

        q->fields[i] = (struct http_field){ string(r, s[0], s[1]), string(r, s[2], s[3]) };
    }
    free(r->spans);
    r->spans = NULL;
    r->n_spans = r->spans_cap = 0;
    return NULL;
}

/* RFC 9112 3.2: origin form, absolute form, or the asterisk. */
static err_t set_target(struct http_reader *r)
{
    struct http_request *q = &r->req;
    char *target = string(r, r->target_at, r->target_end);
    const char *host = http_request_field(q, "Host"), *at = target, *query;
    size_t n, host_size, size;
    err_t err;

    q->target = target;
    if (!host)
        host = "";
    host_size = strlen(host);
    if (strncasecmp(at, "http://", 7) == 0 || strncasecmp(at, "https://", 8) == 0) {
        host = strstr(at, "//") + 2;
        host_size = strcspn(host, "/?#");
        at = host + host_size;
    }
    n = strcspn(at, "?#");
    query = at[n] == '?' ? at + n + 1 : "";
    size = n + strcspn(query, "#") + host_size + 5;
    r->memory = mem_try(size);
    if (!r->memory)
        return no_memory(r, size);
    q->path = r->memory;
    memcpy(q->path, at, n);
    q->path[n] = '\0';
    if (n == 0)
        memcpy(q->path, "/", 2);
    q->query = memcpy(q->path + strlen(q->path) + 1, query, strcspn(query, "#"));
    ((char *)(uintptr_t)q->query)[strcspn(query, "#")] = '\0';
    q->host = memcpy((char *)(uintptr_t)q->query + strlen(q->query) + 1, host, host_size);
    ((char *)(uintptr_t)q->host)[host_size] = '\0';
    q->host_port = http_url_host((char *)(uintptr_t)q->host);
    if (strcmp(q->path, "*") == 0 && q->verb == HTTP_VERB_OPTIONS)
        return NULL;
    err = http_url_path(q->path);
    if (err)
        r->status = 400;
    return err;
}

/* RFC 9110 5.1 and 5.5. The library accepts spaces in names ("Content-Length : 1"). */
static bool is_field(const struct http_field *f)
{
    for (const char *p = f->name; *p; p++) {
        if (*p <= ' ' || *p == 0x7f || strchr("\"(),/:;<=>?@[\\]{}", *p))
            return false;
    }
    for (const char *p = f->value; *p; p++) {
        if (((unsigned char)*p < ' ' && *p != '\t') || *p == 0x7f)
            return false;
    }
    return f->name[0] != '\0';
}

/* RFC 9112 3.2: an HTTP/1.1 request has exactly one Host. */
static err_t check_fields(struct http_reader *r)
{
    unsigned hosts = 0, bad = 0;

    for (unsigned i = 0; i < r->req.n_fields; i++) {
        hosts += strcasecmp(r->req.fields[i].name, "Host") == 0;
        bad += !is_field(&r->req.fields[i]);
    }
    if (!bad && (hosts == 1 || (hosts == 0 && r->req.version < 11)))
        return NULL;
    r->status = 400;
    return err_new(ERR_HTTP, "%u Host fields, %u invalid fields", hosts, bad);
}

/* The parser has the head: builds the request. */
static err_t http_head_finish(struct http_reader *r)
{
    const http_parser *p = r->parser;
    struct http_request *q = &r->req;
    bool sized = p->content_length != ULLONG_MAX;
    err_t err = NULL;

    r->head_end = r->parsed < r->end ? r->parsed + 1 : r->end; /* the parser is at its last byte */
    q->has_body = (sized && p->content_length > 0) || (p->flags & F_CHUNKED);
    if (q->has_body && r->cap < r->head_end + BODY_ROOM)
        err = http_head_room(r, r->head_end + BODY_ROOM);
    q->method = http_method_str((enum http_method)p->method);
    q->verb = verb_of(q->method);
    q->version = p->http_major == 0 ? 9 : p->http_major * 10 + p->http_minor;
    q->keep_alive = http_should_keep_alive(p);
    q->length = sized ? (int64_t)(p->content_length & INT64_MAX) : -1;
    if (!err)
        err = set_fields(r);
    if (err)
        return err;
    if (q->version < 11 && http_request_field(q, "Transfer-Encoding"))
        q->keep_alive = false; /* RFC 9112 6.1: the end of its body is uncertain */
    if (p->http_major != 1) {
        r->status = 505;
        return err_new(ERR_HTTP, "HTTP/%d.%d", p->http_major, p->http_minor);
    }
    err = check_fields(r);
    if (!err)
        err = set_target(r);
    if (!err && sized && p->content_length > r->limits->max_body) {
        r->status = 413;
        err = err_new(ERR_TOO_LARGE, "body of %llu bytes",
                      (unsigned long long)p->content_length);
    }
    r->continue_due = q->has_body && q->version >= 11 &&
                      http_request_has(q, "Expect", "100-continue");
    return err;
}

/* ---- queries about a request */

const char *http_request_field(const struct http_request *req, const char *name)
{
    for (unsigned i = 0; i < req->n_fields; i++) {
        if (strcasecmp(req->fields[i].name, name) == 0)
            return req->fields[i].value;
    }
    return NULL;
}

bool http_request_has(const struct http_request *req, const char *name, const char *word)
{
    return text_list_has(http_request_field(req, name), word);
}

enum { MOST_PROXIES = 32 };

static bool entry(const char *at, const char *end, char client[IP_TEXT])
{
    uint8_t addr[IP_SIZE];

    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    if (!ip_parse(at, (size_t)(end - at), addr))
        return false;
    (void)ip_text(addr, client);
    return true;
}

/* Walks the list's entries from the end; `client` becomes the last credible one. Returns false when
 * the client is found. */
static bool walk_back(const char *list, bool (*trusted)(const void *arg, const char *ip),
                      const void *arg, char client[IP_TEXT])
{
    const char *at = list + strlen(list), *end = at;

    for (int i = 0; i < MOST_PROXIES && trusted(arg, client); i++) {
        while (at > list && at[-1] != ',')
            at--;
        if (!entry(at, end, client))
            return false;
        if (at == list)
            return true;
        end = --at;
    }
    return false;
}

/* Fields with the same name form one list, in their order: RFC 9110 5.3. */
const char *http_request_client(const struct http_request *req, const char *peer,
                                bool (*trusted)(const void *arg, const char *ip),
                                const void *arg, char out[IP_TEXT])
{
    const char *name = http_request_field(req, "X-Forwarded-For") ? "X-Forwarded-For"
                                                                  : "X-Real-IP";

    (void)snprintf(out, IP_TEXT, "%s", peer);
    for (unsigned i = req->n_fields; i-- > 0;) {
        if (strcasecmp(req->fields[i].name, name) == 0 &&
            !walk_back(req->fields[i].value, trusted, arg, out))
            break;
    }
    return out;
}

enum { FIRST_CAP = 1024, SKIP_SIZE = 4096, BLANK_MOST = 1024 };

void http_reader_init(struct http_reader *r, struct io *io, const struct http_limits *limits)
{
    *r = (struct http_reader){ .io = io, .limits = limits };
    r->parser = must(calloc(1, sizeof(*r->parser)));
}

static void forget_request(struct http_reader *r)
{
    free(r->spans);
    free(r->req.fields);
    free(r->memory);
    r->spans = NULL;
    r->memory = NULL;
    r->n_spans = r->spans_cap = 0;
    r->req = (struct http_request){ 0 };
}

void http_reader_fini(struct http_reader *r)
{
    forget_request(r);
    free(r->parser);
    free(r->buf);
    *r = (struct http_reader){ 0 };
}

/* ---- bytes */

/* Makes room after r->end. A head grows up to its limit plus one byte, which tells that it is too
 * large; a body has room from the start. */
static err_t make_room(struct http_reader *r)
{
    size_t most = r->limits->max_head + 1;

    if (r->end < r->cap)
        return NULL;
    if (r->cap >= most) {
        r->status = 431;
        return err_new(ERR_TOO_LARGE, "head of over %zu bytes", r->limits->max_head);
    }
    return http_head_room(r, r->cap == 0 ? FIRST_CAP : r->cap * 2 < most ? r->cap * 2 : most);
}

/* Reads more bytes after r->end, before r->until. */
static err_t fill(struct http_reader *r)
{
    co_usec left = r->until == CO_FOREVER ? CO_FOREVER : r->until - co_clock();
    size_t n;
    err_t err = make_room(r);

    if (err)
        return err;
    if (left != CO_FOREVER && left <= 0) {
        r->status = 408;
        return err_new(ERR_IO_TIMEOUT, "request takes too long");
    }
    r->io->read_timeout = left;
    err = io_read(r->io, r->buf + r->end, r->cap - r->end, &n);
    if (!err)
        r->end += n;
    else if (err_code(err) == ERR_IO_TIMEOUT)
        r->status = 408;
    return err;
}

static co_usec until(co_usec t)
{
    return t == CO_FOREVER ? CO_FOREVER : co_clock() + t;
}

/* ---- the head */

static void begin_request(struct http_reader *r)
{
    forget_request(r);
    if (r->parsed > 0 && r->end > r->parsed)
        memmove(r->buf, r->buf + r->parsed, r->end - r->parsed);
    r->end -= r->parsed;
    r->parsed = r->head_end = 0;
    r->target_at = r->target_end = 0;
    r->phase = HTTP_PHASE_LINE;
    r->status = 0;
    r->continue_due = false;
    r->body_total = 0;
    http_parser_init(r->parser, HTTP_REQUEST);
    r->parser->data = r;
}

/* RFC 9112 2.2: ignores empty lines before the request line, up to a limit, because a client that
 * sends nothing else is idle. */
static err_t wait_first(struct http_reader *r)
{
    size_t all = 0;

    r->until = until(r->limits->idle_time);
    for (;;) {
        size_t blank = 0;
        err_t err;

        while (blank < r->end && (r->buf[blank] == '\r' || r->buf[blank] == '\n'))
            blank++;
        r->end -= blank;
        if (r->end > 0) {
            memmove(r->buf, r->buf + blank, r->end);
            return NULL;
        }
        all += blank;
        if (all > BLANK_MOST) {
            r->status = 400;
            return err_new(ERR_HTTP, "over %d bytes of empty lines", BLANK_MOST);
        }
        err = fill(r);
        if (err) {
            r->status = 0; /* no request, no response */
            return err;
        }
    }
}

err_t http_reader_next(struct http_reader *r, struct http_request **out)
{
    err_t err;

    begin_request(r);
    err = wait_first(r);
    r->until = until(r->limits->head_time);
    while (!err && r->phase != HTTP_PHASE_BODY) {
        err = http_head_feed(r);
        if (!err && r->phase != HTTP_PHASE_BODY) {
            err = fill(r);
            if (err && err_code(err) == ERR_IO_CLOSED)
                err = err_wrap(err, "in the middle of a request's head");
        }
    }
    if (!err)
        err = http_head_finish(r);
    if (err)
        return err;
    r->until = until(r->limits->body_time);
    *out = &r->req;
    return NULL;
}

bool http_reader_has_more(const struct http_reader *r)
{
    return r->end > r->parsed;
}

/* ---- the body */

static err_t send_continue(struct http_reader *r)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";

    r->continue_due = false;
    return io_write(r->io, text, sizeof(text) - 1);
}

/* Passes bytes after the head through the parser, which delivers those of the body to on_body(),
 * never more than went in. */
static err_t push(struct http_reader *r)
{
    size_t left = r->end - r->parsed, room = r->body_cap - r->body_size;

    r->parsed += http_head_execute(r, left < room ? left : room);
    return http_head_error(r);
}

err_t http_reader_body(struct http_reader *r, void *buf, size_t size, size_t *n)
{
    err_t err = NULL;

    r->body = buf;
    r->body_size = 0;
    r->body_cap = size;
    while (!err && r->phase == HTTP_PHASE_BODY && r->body_size == 0) {
        if (r->parsed == r->end) {
            r->parsed = r->end = r->head_end; /* keeps the strings of the head */
            if (r->continue_due)
                err = send_continue(r);
            if (!err)
                err = fill(r);
            if (err)
                break;
        }
        err = push(r);
    }
    r->body = NULL;
    *n = r->body_size;
    r->body_total += r->body_size;
    if (!err && r->body_total > r->limits->max_body) {
        r->status = 413;
        err = err_new(ERR_TOO_LARGE, "body of over %llu bytes",
                      (unsigned long long)r->limits->max_body);
    }
    return err ? err_wrap(err, "request body") : NULL;
}

err_t http_reader_skip(struct http_reader *r, size_t most, bool *done)
{
    uint8_t buf[SKIP_SIZE];
    size_t total = 0, n = 1;
    err_t err = NULL;

    *done = false;
    if (r->continue_due) /* the client waits for 100 Continue and may never send the body */
        return NULL;
    while (!err && r->phase == HTTP_PHASE_BODY && total <= most) {
        err = http_reader_body(r, buf, sizeof(buf), &n);
        total += n;
    }
    *done = !err && r->phase == HTTP_PHASE_DONE;
    return err;
}

void http_reader_detach(struct http_reader *r, uint8_t **rest, size_t *size)
{
    r->phase = HTTP_PHASE_DONE;
    *rest = r->buf + r->parsed;
    *size = r->end - r->parsed;
    if (*size > 0 && **rest == '\n') { /* the parser stops before the head's last byte */
        ++*rest;
        --*size;
    }
}

void http_reader_forget(struct http_reader *r)
{
    forget_request(r);
    free(r->buf);
    r->buf = NULL;
    r->cap = r->parsed = r->end = r->head_end = 0;
}
