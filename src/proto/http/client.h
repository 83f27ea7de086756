/* SPDX-License-Identifier: MIT */
/* client.h - HTTP client: one request, one response (RFC 9110, RFC 9112).
 *
 * A call resolves, connects, performs the TLS handshake if needed, sends the request and reads the
 * whole response, all before one deadline. It serves small responses (decisions of a backend) and
 * callers that process large ones as they arrive. It follows no redirects and sends no cookies.
 */
#ifndef PROTO_HTTP_CLIENT_H
#define PROTO_HTTP_CLIENT_H

#include "co/net/io.h"
#include "co/net/io_tls.h"
#include "proto/http/request.h"

/* A parsed URL. Its strings live until http_location_free(); none is NULL. */
struct http_location {
    bool tls;
    char *host;     /* without the brackets of an IPv6 address */
    int port;
    char *target;   /* path and query, at least "/" */
    char *userinfo; /* "name:password", decoded, or "" */
};

/* Parses "http://host[:port][/path][?query]" and https. ERR_HTTP if it is invalid; then there is
 * nothing to free. */
err_t http_location_parse(struct http_location *out, const char *url)
    __attribute__((warn_unused_result));
void http_location_free(struct http_location *p); /* works on a zeroed struct */

struct http_call {
    const char *method;          /* NULL: POST with a body, else GET */
    const char *type;            /* content type of the body; NULL: application/json */
    const void *body;
    size_t size;
    const struct http_field *fields; /* additional header fields */
    unsigned n_fields;
    const char *agent;           /* User-Agent, or NULL */
    co_usec timeout;             /* for the whole call */
    size_t max_reply;            /* limit of the response body, in bytes */
    bool cut;                    /* stop reading at max_reply instead of returning ERR_TOO_LARGE */
    struct io_tls_trust trust;
    /* for clients that repeat requests and do not need the body */
    bool keep;                   /* keep the connection open if the server does */
    bool drop;                   /* discard the body */
    bool head;                   /* return after the head; the caller reads the rest */
    void *buffer; /* read buffer, which others may use while this call yields; NULL: own buffer */
    size_t buffer_size;
    err_t (*came)(void *arg, size_t n); /* Called after n bytes were received; restarts the timeout.
                                         * May yield. May be NULL. */
    void *arg;
};

struct http_reply {
    int status;
    bool keep;      /* the connection can carry another request */
    char *location; /* Location of a redirect; NULL without one */
    char *body; /* malloc'ed and zero-terminated; NULL without one */
    size_t size;
};

/* Sends a request and reads the response. Any status is a response, not an error. On ERR_DNS,
 * ERR_IO_*, ERR_TLS, ERR_HTTP, ERR_TOO_LARGE and ERR_STOPPED there is no response and nothing to
 * free. Yields. */
err_t http_client_call(struct http_reply *out, const char *url, const struct http_call *call)
    __attribute__((warn_unused_result));
/* Same, over a pipe that is connected to this location. */
err_t http_client_exchange(struct http_reply *out, struct io *io, const struct http_location *to,
                           const struct http_call *call) __attribute__((warn_unused_result));
void http_reply_free(struct http_reply *r); /* works on a zeroed struct */

#endif
