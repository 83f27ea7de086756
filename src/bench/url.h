/* SPDX-License-Identifier: MIT */
/* url.h - addresses with {i} in them. */
#ifndef BENCH_URL_H
#define BENCH_URL_H

#include "base/err.h"

#include <stdbool.h>

enum { BENCH_URL_SIZE = 512 };

struct bench_url {
    char host[128];
    int port;
    bool tls;
    char tc_url[BENCH_URL_SIZE]; /* "rtmp://host:port/app" */
    char app[256];
    char stream[256]; /* with its parameters */
};

/* Put `index` for each {i}. ERR_CONF: the result is longer than `size`. */
err_t bench_url_expand(char *out, size_t size, const char *pattern, unsigned index)
    __attribute__((warn_unused_result));
/* The stream is what comes after the last '/' of the path; "?..." belongs to it. `schemes` are
 * those that will do, with spaces between: rtmp, http, https. */
err_t bench_url_parse(struct bench_url *url, const char *text, const char *schemes)
    __attribute__((warn_unused_result));

/* What a reference of `size` bytes in a file of `base` ("http://host/path") means, RFC 3986 5.2.
 * ERR_CONF: it does not fit. */
err_t bench_url_resolve(char *out, size_t out_size, const char *base, const char *ref, size_t size)
    __attribute__((warn_unused_result));

#endif
