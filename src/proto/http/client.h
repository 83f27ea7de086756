/* SPDX-License-Identifier: MIT */
/* client.h - ask an HTTP server: one request, one answer: RFC 9110, RFC 9112.
 *
 * Straight down: resolve, connect, perhaps TLS, say the request, read the answer to its end, all
 * of it before one deadline. Made for small answers (verdicts of a backend), and for whoever takes
 * large ones as they come; it follows no redirects and sends no cookies.
 */
#ifndef PROTO_HTTP_CLIENT_H
#define PROTO_HTTP_CLIENT_H

#include "co/net/io.h"
#include "co/net/io_tls.h"
#include "proto/http/request.h"

/* A url taken apart. Strings live until http_location_free(); none is NULL. */
struct http_location {
    bool tls;
    char *host;     /* without the brackets of an IPv6 address */
    int port;
    char *target;   /* path and query, "/" at least */
    char *userinfo; /* "name:password", decoded, or "" */
};

/* "http://host[:port][/path][?query]" and https. ERR_HTTP: it is none; nothing is to free then. */
err_t http_location_parse(struct http_location *out, const char *url)
    __attribute__((warn_unused_result));
void http_location_free(struct http_location *p); /* all zero is fine */

struct http_call {
    const char *method;          /* NULL: POST with a body, else GET */
    const char *type;            /* of the body; NULL: application/json */
    const void *body;
    size_t size;
    const struct http_field *fields; /* more of the head */
    unsigned n_fields;
    const char *agent;           /* User-Agent, or NULL */
    co_usec timeout;             /* for all of it */
    size_t max_reply;            /* bytes of the answer's body */
    bool cut;                    /* read so much and no more, instead of ERR_TOO_LARGE */
    struct io_tls_trust trust;
    /* for clients that ask again, and do not need what comes */
    bool keep;                   /* the connection, if the server does */
    bool drop;                   /* the body is not kept */
    bool head;                   /* the caller reads on behind what came with the head */
    void *buffer;                /* to read into, free for others when this yields; NULL: its own */
    size_t buffer_size;
    err_t (*came)(void *arg, size_t n); /* so many bytes, and there is all of `timeout` for more;
                                         * may yield; may be NULL */
    void *arg;
};

struct http_reply {
    int status;
    bool keep;      /* another request may follow on the connection */
    char *location; /* as a redirect has it; NULL without */
    char *body; /* malloc'ed, with a '\0' behind it; NULL without */
    size_t size;
};

/* Any status is an answer, and no error. ERR_DNS, ERR_IO_*, ERR_TLS, ERR_HTTP, ERR_TOO_LARGE,
 * ERR_STOPPED: there is none, and nothing to free. Yields. */
err_t http_client_call(struct http_reply *out, const char *url, const struct http_call *call)
    __attribute__((warn_unused_result));
/* The same over a pipe that is connected to that place. */
err_t http_client_talk(struct http_reply *out, struct io *io, const struct http_location *to,
                       const struct http_call *call) __attribute__((warn_unused_result));
void http_reply_free(struct http_reply *r); /* all zero is fine */

#endif
