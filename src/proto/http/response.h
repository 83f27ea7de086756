/* SPDX-License-Identifier: MIT */
/* response.h - writes one HTTP/1.1 response (RFC 9110, RFC 9112).
 *
 *     http_response_add(r, "Content-Type", "text/plain");
 *     err = http_response_send(r, 200, text, size);         all at once
 * or
 *     err = http_response_begin(r, 200, HTTP_CHUNKED);      or its length, or HTTP_TO_CLOSE
 *     err = http_response_write(r, data, size);             any number of times
 *     err = http_response_end(r);
 *
 * The head is sent with the first bytes of the body. The body is left out automatically in
 * responses to HEAD and with a status that has none. All functions that send yield.
 */
#ifndef PROTO_HTTP_RESPONSE_H
#define PROTO_HTTP_RESPONSE_H

#include "base/wr.h"
#include "proto/http/request.h"

#include <stddef.h>
#include <time.h>

/* ---- names of status codes, types of files, and the time of day */

/* "Not Found"; "Status" for an unknown number. RFC 9110 section 15. */
const char *http_status_text(int status);

/* Content type by the suffix of a path, such as "text/html"; the default is
 * "application/octet-stream". */
const char *http_type_of(const char *path);

/* Text of the Date field, updated once per second; one per server, initially zero. */
struct http_clock {
    time_t at;
    char text[40];
};
const char *http_clock_text(struct http_clock *c);

enum { HTTP_DATE_SIZE = 40 };
/* "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 section 5.6.7); returns buf. */
const char *http_date_put(char buf[HTTP_DATE_SIZE], time_t t);
/* Parses such a date; returns -1 for any other form. */
time_t http_date_get(const char *text);

#define HTTP_CHUNKED ((int64_t)-1)  /* for an HTTP/1.0 client it becomes HTTP_TO_CLOSE */
#define HTTP_TO_CLOSE ((int64_t)-2) /* the end of the connection ends the body */

struct http_response {
    struct io *io;
    const struct http_request *req;
    const char *date, *server; /* values of header fields */
    struct wr fields;          /* fields added so far */
    struct wr head;            /* head of the response, until it is sent */
    int status;                /* 0: not begun */
    bool chunked, no_body, ended;
    bool close;                /* the connection closes after this response */
    int64_t left;              /* bytes left of a body of known length */
    uint64_t sent;             /* bytes of the body sent */
};

/* req is NULL for the response to an unreadable request. */
void http_response_init(struct http_response *r, struct io *io, const struct http_request *req,
                        const char *server, const char *date);
void http_response_fini(struct http_response *r);

/* Adds a header field. Drops bytes that are not allowed in a field. Not after begin. */
void http_response_add(struct http_response *r, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds complete header lines, each with its "\r
 * "; they must be valid. */
void http_response_add_lines(struct http_response *r, const char *lines);
/* Returns whether a field with this name was added. */
bool http_response_has(const struct http_response *r, const char *name);

err_t http_response_begin(struct http_response *r, int status, int64_t length)
    __attribute__((warn_unused_result));
err_t http_response_write(struct http_response *r, const void *data, size_t size)
    __attribute__((warn_unused_result));
/* Sends only the head, now; the body is sent by other means (sendfile, a live stream). */
err_t http_response_flush(struct http_response *r) __attribute__((warn_unused_result));
/* Counts body bytes that were sent by other means. */
void  http_response_count(struct http_response *r, size_t n);
err_t http_response_end(struct http_response *r) __attribute__((warn_unused_result));

/* Sends the whole response. A text of suitable size is compressed if the client accepts it. */
err_t http_response_send(struct http_response *r, int status, const void *body, size_t size)
    __attribute__((warn_unused_result));
/* Sends a short page with the status, or no body if the status has none. */
err_t http_response_status(struct http_response *r, int status)
    __attribute__((warn_unused_result));
/* 302 to a path of this server (escaped here), with the query unchanged. */
err_t http_response_redirect(struct http_response *r, const char *path, const char *query)
    __attribute__((warn_unused_result));

/* Checks the client's conditions (If-None-Match, If-Modified-Since); returns true if it has the
 * current version already. Adds ETag and, if mtime > 0, Last-Modified. RFC 9110 section 13. */
bool http_response_unchanged(struct http_response *r, const char *etag, time_t mtime);

/* Returns whether this response can be compressed and the client accepts gzip. Adds Vary. */
bool http_response_wants_gzip(struct http_response *r, const char *type);

#endif
