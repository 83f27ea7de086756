/* SPDX-License-Identifier: MIT */
/* url.h - parses URLs of requests and tracks (RFC 2326 sections 3.2 and C.1.1).
 *
 * Hosts are never compared, because clients behind proxies and address translation use other names.
 */
#ifndef PROTO_RTSP_URL_H
#define PROTO_RTSP_URL_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- server: the URL of a request */

/* All strings are in `memory` until rtsp_target_free(); none is NULL. */
struct rtsp_target {
    bool all;         /* "*": no stream */
    const char *host; /* name without the port, lower case; "" if the request had only a path */
    int port;         /* 0: none was given */
    const char *path; /* decoded, without dot segments, double slashes and a trailing slash:
                       * "/live/a", or "" */
    const char *query; /* as sent, without the '?' and the track */
    int track;        /* -1: none */
    char *memory;
};

/* Parses "rtsp://h/app/s?k=v/trackID=0", "/app/s/trackID=0?k=v", "/app/s/": clients append the
 * track to the URL in several ways. ERR_RTSP for an invalid URL or one that leaves the root;
 * ERR_NO_MEMORY. On error there is nothing to free. */
err_t rtsp_target_parse(struct rtsp_target *out, const char *url)
    __attribute__((warn_unused_result));
void rtsp_target_free(struct rtsp_target *t); /* works on a zeroed struct */

/* Returns whether this URL names the track with this control attribute, in a description with base
 * URL `base`. Compares the undecoded paths with their queries. */
bool rtsp_url_is_track(const char *url, const char *base, const char *control);

/* ---- client: the server's location */

/* Strings live until rtsp_location_free(); none is NULL. */
struct rtsp_location {
    bool tls;
    char *host;           /* without the brackets of an IPv6 address */
    int port;             /* as given, or the default 554 or 322 */
    char *user, *password; /* decoded; "" if missing */
    char *url;            /* URL without user and password, as sent in requests */
};

/* Parses "rtsp://[user[:password]@]host[:port][/path][?query]", and rtsps. On ERR_RTSP there is
 * nothing to free. The error's text contains no password. */
err_t rtsp_location_parse(struct rtsp_location *out, const char *url)
    __attribute__((warn_unused_result));
void rtsp_location_free(struct rtsp_location *p); /* works on a zeroed struct */

/* Returns the URL of a control attribute in a description with base URL `base`; the caller frees
 * it. It is appended to the base with one slash between them, as cameras expect, which differs from
 * RFC 3986. If the control is a whole URL, its host is replaced with that of the base. */
char *rtsp_url_join(const char *base, const char *control);

#endif
