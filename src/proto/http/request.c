/* SPDX-License-Identifier: MIT */
/* request.c - read HTTP/1.x requests from a pipe. */
#include "proto/http/request.h"

#include "base/must.h"
#include "proto/http/request_head.h"

#include <http_parser.h>
#include <stdlib.h>
#include <string.h>

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

/* Room for more behind r->end. A head grows up to its limit, and one byte more to know; a body
 * has room from the start. */
static err_t make_room(struct http_reader *r)
{
    size_t most = r->limits->max_head + 1;

    if (r->end < r->cap)
        return NULL;
    if (r->cap >= most) {
        r->status = 431;
        return err_new(ERR_TOO_LARGE, "a head of over %zu bytes", r->limits->max_head);
    }
    return http_head_room(r, r->cap == 0 ? FIRST_CAP : r->cap * 2 < most ? r->cap * 2 : most);
}

/* Read some behind r->end, before r->until. */
static err_t fill(struct http_reader *r)
{
    co_usec left = r->until == CO_FOREVER ? CO_FOREVER : r->until - co_clock();
    size_t n;
    err_t err = make_room(r);

    if (err)
        return err;
    if (left != CO_FOREVER && left <= 0) {
        r->status = 408;
        return err_new(ERR_IO_TIMEOUT, "the request takes too long");
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

/* RFC 9112 2.2: empty lines before the request line are ignored. A few: a client that says nothing
 * else is idle, and is not to be listened to for ever. */
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
            r->status = 0; /* nothing was asked, nothing is answered */
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

/* Bytes behind the head are pushed through the parser; it gives those of the body to
 * http_head_on_body(), never more than went in. */
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
            r->parsed = r->end = r->head_end; /* the head's strings stay */
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
        err = err_new(ERR_TOO_LARGE, "a body of over %llu bytes",
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
    if (r->continue_due) /* it waits for a word that does not come: it may never send it */
        return NULL;
    while (!err && r->phase == HTTP_PHASE_BODY && total <= most) {
        err = http_reader_body(r, buf, sizeof(buf), &n);
        total += n;
    }
    *done = !err && r->phase == HTTP_PHASE_DONE;
    return err;
}

void http_reader_leave(struct http_reader *r, uint8_t **rest, size_t *size)
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
