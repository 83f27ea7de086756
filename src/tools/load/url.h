/* SPDX-License-Identifier: MIT */
/* url.h - addresses with {i} in them. */
#ifndef TOOLS_LOAD_URL_H
#define TOOLS_LOAD_URL_H

#include "base/err.h"

#include <stdbool.h>

enum { LOAD_URL_SIZE = 512 };

struct load_url {
    char host[128];
    int port;
    bool tls;
    char tc_url[LOAD_URL_SIZE]; /* "rtmp://host:port/app"; of RTSP all of it, as it was given */
    char app[256];
    char stream[256]; /* with its parameters; of RTSP neither is set */
};

/* Put `index` for each {i}. ERR_CONF: the result is longer than `size`. */
err_t load_url_expand(char *out, size_t size, const char *pattern, unsigned index)
    __attribute__((warn_unused_result));
/* The stream is what comes after the last '/' of the path; "?..." belongs to it. `schemes` are
 * those that will do, with spaces between: rtmp, http, https, rtsp. */
err_t load_url_parse(struct load_url *url, const char *text, const char *schemes)
    __attribute__((warn_unused_result));

/* What a reference of `size` bytes in a file of `base` ("http://host/path") means, RFC 3986 5.2.
 * ERR_CONF: it does not fit. */
err_t load_url_resolve(char *out, size_t out_size, const char *base, const char *ref, size_t size)
    __attribute__((warn_unused_result));

#endif
