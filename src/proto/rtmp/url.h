/* SPDX-License-Identifier: MIT */
/* url.h - resolves a peer's tcUrl and stream name to vhost, app, stream and parameters.
 *
 * Clients split one address in many ways: "rtmp://ip/live" and "key?token=x", or
 * "rtmp://ip/live?vhost=v" and "key", "rtmp://ip/live?vhost=v/key" and "", "rtmp://ip/a" and
 * "b/key", "rtmp://ip/a/b" and "key". All of them give the same names here, so that a player finds
 * the published stream.
 *
 * - vhost: `vhost=` or `domain=` of the parameters, `app...vhost...NAME`, or else the host
 * - app: the path without its last part and without _definst_; "__defaultApp__" when empty
 * - stream: the last part of the path
 * - param: "?token=x&..." of the stream, then of the tcUrl, or ""
 */
#ifndef PROTO_RTMP_URL_H
#define PROTO_RTMP_URL_H

#include "base/err.h"

enum { RTMP_URL_MAX = 4096 }; /* bytes of tcUrl and name together */

/* All strings are in `memory` until rtmp_url_free(); none is NULL. */
struct rtmp_url {
    char *schema; /* lower case */
    char *host;   /* v6 addresses without the brackets */
    char *vhost, *app, *stream, *param;
    int port; /* as given, or the default of the schema */
    char *memory;
};

/* For a server. `name` is NULL after connect, when there is no stream yet (the whole path is the
 * app); later it is the name in publish or play. If it is empty, the stream is the end of the
 * tcUrl. The stream is "" if neither has one.
 * ERR_RTMP_CONNECT for an invalid URL, ERR_TOO_LARGE. On error there is nothing to free. */
err_t rtmp_url_resolve(struct rtmp_url *out, const char *tc_url, const char *name)
    __attribute__((warn_unused_result));
/* For a client: parses one whole URL. */
err_t rtmp_url_parse(struct rtmp_url *out, const char *url) __attribute__((warn_unused_result));
void rtmp_url_free(struct rtmp_url *u); /* works on a zeroed struct */

/* Writes the tcUrl that a client sends: "rtmp://host[:port]/app[?vhost=v]". Truncates to size - 1;
 * returns buf. */
const char *rtmp_url_tc(const struct rtmp_url *u, char *buf, size_t size);

#endif
