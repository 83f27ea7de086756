/* SPDX-License-Identifier: MIT */
/* request.h - reads HTTP/1.x requests from a pipe, one after the other (RFC 9110, RFC 9112).
 *
 * The caller waits for a request's first byte, reads its head, reads or skips its body, and
 * repeats. Bytes of the next request that arrive early (pipelining) stay in the buffer. Limits
 * bound everything that a peer can make large, and timeouts bound everything that it can make slow.
 */
#ifndef PROTO_HTTP_REQUEST_H
#define PROTO_HTTP_REQUEST_H

#include "base/ip.h"
#include "co/net/io.h"

struct http_parser; /* http-parser library */

struct http_limits {
    size_t max_line;   /* bytes of the target; beyond it: 414 */
    size_t max_head;   /* bytes of the request line and all fields; beyond it: 431 */
    unsigned max_fields; /* beyond it: 431 */
    uint64_t max_body; /* bytes; beyond it: 413 */
    co_usec idle_time; /* until the first byte of a request */
    co_usec head_time; /* from there to the end of the head; then 408 */
    co_usec body_time; /* from there to the end of the body; then 408 */
};

enum http_verb {
    HTTP_VERB_GET, HTTP_VERB_HEAD, HTTP_VERB_POST, HTTP_VERB_PUT, HTTP_VERB_DELETE,
    HTTP_VERB_PATCH, HTTP_VERB_OPTIONS, HTTP_VERB_OTHER,
};

struct http_field {
    char *name, *value;
};

/* Strings belong to the reader and live until its next request. None is NULL. */
struct http_request {
    enum http_verb verb;
    const char *method;
    char *path; /* decoded, without dot segments (url.h); "*" for OPTIONS of the whole server */
    const char *target; /* path and query as sent, for logs */
    const char *query; /* as sent, without the '?' */
    const char *host;  /* host name in lower case; "" if an old client sent none */
    int host_port;     /* 0: none was sent */
    struct http_field *fields;
    unsigned n_fields;
    int version;       /* 9, 10, 11 */
    bool keep_alive;
    bool has_body;
    int64_t length;    /* length of the body; -1: chunked, or no body */
};

struct http_reader {
    struct io *io;
    const struct http_limits *limits;
    struct http_parser *parser;
    uint8_t *buf;              /* the head, and bytes after it */
    size_t cap, parsed, end;   /* bytes before `parsed` have gone through the parser */
    size_t head_end;           /* the head is buf[0..head_end) */
    co_usec until;             /* deadline of the head, later of the body */
    int status; /* status to send to the peer after an error; 0: none, the peer is gone */
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
    char *memory;              /* memory of path, query and host */
};

void http_reader_init(struct http_reader *r, struct io *io, const struct http_limits *limits);
void http_reader_fini(struct http_reader *r);

/* Reads the head of the next request. ERR_IO_CLOSED with status 0: the peer has no more requests.
 * ERR_HTTP, ERR_TOO_LARGE, ERR_TOO_MANY and ERR_IO_TIMEOUT come with the status to respond with.
 * The body of the previous request must have been read or skipped. Yields. */
err_t http_reader_next(struct http_reader *r, struct http_request **out)
    __attribute__((warn_unused_result));
/* Returns whether the bytes read so far contain the beginning of the next request. */
bool http_reader_has_more(const struct http_reader *r);
/* Reads up to `size` bytes of the body; *n is 0 at its end. Yields. */
err_t http_reader_body(struct http_reader *r, void *buf, size_t size, size_t *n)
    __attribute__((warn_unused_result));
/* Reads and discards up to `most` bytes of the rest of the body; *done tells whether this reached
 * its end. Yields. */
err_t http_reader_skip(struct http_reader *r, size_t most, bool *done)
    __attribute__((warn_unused_result));
/* Ends reading requests, when the connection switches to FLV or WebSocket. Bytes after the head are
 * at *rest, until forget(). */
void http_reader_detach(struct http_reader *r, uint8_t **rest, size_t *size);
/* Frees the request, with its strings, and the read buffer. Call it after leave(). */
void http_reader_forget(struct http_reader *r);

/* Returns the value of the first field with this name, or NULL. Names are case-insensitive. */
const char *http_request_field(const struct http_request *req, const char *name);
/* Returns whether the comma-separated list in this field contains the word. */
bool http_request_has(const struct http_request *req, const char *name, const char *word);
/* Finds the address of the real client behind proxies. Starts with `peer`; as long as the address
 * found last is `trusted`, takes the previous entry of X-Forwarded-For, from its end. Without this
 * field uses X-Real-IP. An entry that is not just an address ends the search. Returns `out`. */
const char *http_request_client(const struct http_request *req, const char *peer,
                                bool (*trusted)(const void *arg, const char *ip),
                                const void *arg, char out[IP_TEXT]);

#endif
