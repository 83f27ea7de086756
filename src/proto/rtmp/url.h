/* SPDX-License-Identifier: MIT */
/* url.h - what a peer means by its tcUrl and the name it publishes or plays.
 *
 * Clients cut one address in many ways: "rtmp://ip/live" and "key?token=x", or
 * "rtmp://ip/live?vhost=v" and "key", "rtmp://ip/live?vhost=v/key" and "", "rtmp://ip/a" and
 * "b/key", "rtmp://ip/a/b" and "key". However it was cut, the same address gives the same names
 * here, so that a player finds what was published.
 *
 *   vhost   `vhost=` or `domain=` of the parameters, `app...vhost...NAME`, else the host
 *   app     all of the path but its last part, without _definst_; "__defaultApp__" when empty
 *   stream  the last part of the path
 *   param   "?token=x&..." of the stream and of the tcUrl, in this order, or ""
 */
#ifndef PROTO_RTMP_URL_H
#define PROTO_RTMP_URL_H

#include "base/err.h"

enum { RTMP_URL_MAX = 4096 }; /* bytes of tcUrl and name together */

/* Strings live in one piece of memory until rtmp_url_free(); none is NULL. */
struct rtmp_url {
    char *schema; /* lower case */
    char *host;   /* of v6 addresses without the brackets */
    char *vhost, *app, *stream, *param;
    int port; /* given, or what is usual for the schema */
    char *memory;
};

/* For a server: name is NULL after connect, when there is no stream yet (the whole path is the
 * app), else what publish or play said; an empty one is taken from the end of the tcUrl. The
 * stream is "" when there is none anywhere.
 * ERR_RTMP_CONNECT for what is no URL, ERR_TOO_LARGE. On error there is nothing to free. */
err_t rtmp_url_resolve(struct rtmp_url *out, const char *tc_url, const char *name)
    __attribute__((warn_unused_result));
/* For a client: one whole URL. */
err_t rtmp_url_parse(struct rtmp_url *out, const char *url) __attribute__((warn_unused_result));
void rtmp_url_free(struct rtmp_url *u); /* all zero is fine */

/* What a client says as tcUrl: "rtmp://host[:port]/app[?vhost=v]". Cut to size - 1; returns buf. */
const char *rtmp_url_tc(const struct rtmp_url *u, char *buf, size_t size);

#endif
