/* SPDX-License-Identifier: MIT */
/* fetch.h - files over HTTP for the load tools: one connection that is kept, RFC 9112.
 *
 * What is not asked for by the caller is dropped by the kernel, uncopied. Redirects are followed; a
 * connection that the server closed between two requests is made again.
 */
#ifndef BENCH_FETCH_H
#define BENCH_FETCH_H

#include "base/wr.h"
#include "bench/run.h"

enum { BENCH_FETCH_URL = 2048 };

struct bench_fetch {
    struct bench_client *c;         /* its talk.io is the connection */
    char url[BENCH_FETCH_URL];      /* of the last answer, after redirects */
    char place[160];                /* where the connection goes: "http host port" */
    int status;                     /* of the last answer */
    uint64_t size;                  /* bytes of its body */
    bool media;                     /* count bodies as media of the client */
    unsigned answers;               /* on this connection */
};

/* Connect a client over TCP or TLS: the `open` of a tool. */
err_t bench_fetch_open(struct bench_client *c, const struct bench_url *url, const char *bind_ip,
                       co_usec timeout) __attribute__((warn_unused_result));
/* Of a client that bench_fetch_open() connected to `url`. */
void bench_fetch_init(struct bench_fetch *f, struct bench_client *c, const struct bench_url *url);
/* Ask for a file; its body goes to `body`, or nowhere. Any status is an answer. ERR_IO_*, ERR_HTTP,
 * ERR_TOO_LARGE (over body's limit). ERR_IO_TIMEOUT also when the session is over. */
err_t bench_fetch_get(struct bench_fetch *f, const char *url, struct wr *body)
    __attribute__((warn_unused_result));

#endif
