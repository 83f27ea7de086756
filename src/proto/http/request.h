/* SPDX-License-Identifier: MIT */
/* request.h - read HTTP/1.x requests from a pipe, one after the other: RFC 9110, RFC 9112.
 *
 * Straight down: wait for a request's first byte, read its head, read its body or let it be
 * skipped, and again. Bytes of the next request that came early (pipelining) wait in the buffer.
 * All that a peer can make large has a limit, and all that it can make slow has a time.
 */
#ifndef PROTO_HTTP_REQUEST_H
#define PROTO_HTTP_REQUEST_H

#include "base/ip.h"
#include "co/net/io.h"

struct http_parser; /* of the library */

struct http_limits {
    size_t max_line;   /* bytes of the target: 414 */
    size_t max_head;   /* bytes of the request line and all fields: 431 */
    unsigned max_fields; /* 431 */
    uint64_t max_body; /* bytes: 413 */
    co_usec idle_time; /* until the first byte of a request */
    co_usec head_time; /* from there to the end of its head: 408 */
    co_usec body_time; /* from there to the end of its body: 408 */
};

enum http_verb {
    HTTP_VERB_GET, HTTP_VERB_HEAD, HTTP_VERB_POST, HTTP_VERB_PUT, HTTP_VERB_DELETE,
    HTTP_VERB_PATCH, HTTP_VERB_OPTIONS, HTTP_VERB_OTHER,
};

struct http_field {
    char *name, *value;
};

/* Strings are the reader's, until its next request. None is NULL. */
struct http_request {
    enum http_verb verb;
    const char *method;
    char *path;        /* decoded, without dot segments (url.h); "*" for OPTIONS of all */
    const char *target; /* as it was sent, path and query: for logs */
    const char *query; /* as it was sent, without the '?' */
    const char *host;  /* the name alone, lower case; "" in old requests */
    int host_port;     /* 0: none was given */
    struct http_field *fields;
    unsigned n_fields;
    int version;       /* 9, 10, 11 */
    bool keep_alive;
    bool has_body;
    int64_t length;    /* of the body; -1: chunked, or there is none */
};

struct http_reader {
    struct io *io;
    const struct http_limits *limits;
    struct http_parser *parser;
    uint8_t *buf;              /* the head, and what came behind it */
    size_t cap, parsed, end;   /* bytes before `parsed` went through the parser */
    size_t head_end;           /* the head is buf[0..head_end) */
    co_usec until;             /* when the head, the body must be there */
    int status;                /* what to tell the peer about the error; 0: nothing, it is gone */
    unsigned phase;
    bool continue_due;         /* the client waits for "100 Continue" before it sends the body */
    /* while the head is parsed */
    uint32_t *spans;           /* begin and end of the name, begin and end of the value */
    unsigned n_spans, spans_cap;
    uint32_t target_at, target_end;
    /* while the body is read */
    uint8_t *body;
    size_t body_size, body_cap;
    uint64_t body_total;
    struct http_request req;
    char *memory;              /* of req's path, query and host */
};

void http_reader_init(struct http_reader *r, struct io *io, const struct http_limits *limits);
void http_reader_fini(struct http_reader *r);

/* The next request's head. ERR_IO_CLOSED with status 0: the peer has no more to ask; ERR_HTTP,
 * ERR_TOO_LARGE, ERR_TOO_MANY, ERR_IO_TIMEOUT with the status to answer. A body of the request
 * before must have been read or skipped. Yields. */
err_t http_reader_next(struct http_reader *r, struct http_request **out)
    __attribute__((warn_unused_result));
/* Has the next request begun, in what was read already? */
bool http_reader_has_more(const struct http_reader *r);
/* Some of the body, up to `size` bytes; *n is 0 at its end. Yields. */
err_t http_reader_body(struct http_reader *r, void *buf, size_t size, size_t *n)
    __attribute__((warn_unused_result));
/* Read what is left of the body and throw it away, up to `most` bytes: *done tells whether that
 * was all of it. Yields. */
err_t http_reader_skip(struct http_reader *r, size_t most, bool *done)
    __attribute__((warn_unused_result));
/* The connection is no longer one of requests (FLV, WebSocket). Bytes that came behind the head
 * are at *rest, until forget(). */
void http_reader_leave(struct http_reader *r, uint8_t **rest, size_t *size);
/* Free the request and all that was read: its strings are gone. After leave(). */
void http_reader_forget(struct http_reader *r);

/* The value of a field, or NULL; of several the first. Names are compared without case. */
const char *http_request_field(const struct http_request *req, const char *name);
/* Is the word in the comma separated list of that field? */
bool http_request_has(const struct http_request *req, const char *name, const char *word);
/* Who really asks, when `peer` is connected: as long as the last one told of is `trusted`, the
 * entry of X-Forwarded-For before it, from the end; without that field X-Real-IP. What is not an
 * address alone ends the walk. Gives `out`. */
const char *http_request_client(const struct http_request *req, const char *peer,
                                bool (*trusted)(const void *arg, const char *ip),
                                const void *arg, char out[IP_TEXT]);

#endif
