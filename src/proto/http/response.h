/* SPDX-License-Identifier: MIT */
/* response.h - write one HTTP/1.1 answer: RFC 9110, RFC 9112.
 *
 *     http_response_add(r, "Content-Type", "text/plain");
 *     err = http_response_send(r, 200, text, size);         the whole at once
 * or
 *     err = http_response_begin(r, 200, HTTP_CHUNKED);      or its length, or HTTP_TO_CLOSE
 *     err = http_response_write(r, data, size);             as often as needed
 *     err = http_response_end(r);
 *
 * The head goes out with the first bytes of the body. To HEAD, and with a status that has none,
 * the body is left out by itself. All that sends yields.
 */
#ifndef PROTO_HTTP_RESPONSE_H
#define PROTO_HTTP_RESPONSE_H

#include "base/wr.h"
#include "proto/http/request.h"

#include <stddef.h>
#include <time.h>

/* ---- what the numbers of answers are called, types of files, and the time of day. */

/* "Not Found"; "Status" for a number that nobody knows. RFC 9110 section 15. */
const char *http_status_text(int status);

/* "text/html" by the end of a path; "application/octet-stream" when nothing else fits. */
const char *http_type_of(const char *path);

/* The text of a Date, made once a second; starts as zeros, one per server. */
struct http_clock {
    time_t at;
    char text[40];
};
const char *http_clock_text(struct http_clock *c);

enum { HTTP_DATE_SIZE = 40 };
/* "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 section 5.6.7); returns buf. */
const char *http_date_put(char buf[HTTP_DATE_SIZE], time_t t);
/* The same read back; -1: it is none of that form. */
time_t http_date_get(const char *text);

#define HTTP_CHUNKED ((int64_t)-1)  /* to an HTTP/1.0 client it is HTTP_TO_CLOSE */
#define HTTP_TO_CLOSE ((int64_t)-2) /* the end of the connection is the end of the body */

struct http_response {
    struct io *io;
    const struct http_request *req;
    const char *date, *server; /* of the head */
    struct wr fields;          /* added so far */
    struct wr head;            /* of the answer, until it is sent */
    int status;                /* 0: not begun */
    bool chunked, no_body, ended;
    bool close;                /* the connection ends with this answer */
    int64_t left;              /* of a body of known length */
    uint64_t sent;             /* bytes of the body */
};

/* Also without a request (NULL): an answer to what was none. */
void http_response_init(struct http_response *r, struct io *io, const struct http_request *req,
                        const char *server, const char *date);
void http_response_fini(struct http_response *r);

/* A field of the head. Bytes that may not stand in one are left out. Not after begin. */
void http_response_add(struct http_response *r, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Whole lines, each with its "\r\n", that are known to be right. */
void http_response_add_lines(struct http_response *r, const char *lines);
/* Was it added? */
bool http_response_has(const struct http_response *r, const char *name);

err_t http_response_begin(struct http_response *r, int status, int64_t length)
    __attribute__((warn_unused_result));
err_t http_response_write(struct http_response *r, const void *data, size_t size)
    __attribute__((warn_unused_result));
/* The head alone, now: the body goes another way (sendfile, a live stream). */
err_t http_response_flush(struct http_response *r) __attribute__((warn_unused_result));
/* Bytes of the body went another way. */
void  http_response_went(struct http_response *r, size_t n);
err_t http_response_end(struct http_response *r) __attribute__((warn_unused_result));

/* The whole answer. A text of some size is compressed where the client understands it. */
err_t http_response_send(struct http_response *r, int status, const void *body, size_t size)
    __attribute__((warn_unused_result));
/* A short page that says the status; with no body where there may be none. */
err_t http_response_status(struct http_response *r, int status)
    __attribute__((warn_unused_result));
/* 302 to a path of ours (escaped here) and the query as it was. */
err_t http_response_redirect(struct http_response *r, const char *path, const char *query)
    __attribute__((warn_unused_result));

/* Do the client's conditions (If-None-Match, If-Modified-Since) say that it has this already?
 * Adds ETag and, if mtime > 0, Last-Modified. RFC 9110 section 13. */
bool http_response_unchanged(struct http_response *r, const char *etag, time_t mtime);

/* May this answer be compressed, and does the client want it? Adds Vary. */
bool http_response_wants_gzip(struct http_response *r, const char *type);

#endif
