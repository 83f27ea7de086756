/* SPDX-License-Identifier: MIT */
/* url.h - what requests are for, and where tracks are: RFC 2326 sections 3.2 and C.1.1.
 *
 * Hosts are never compared: clients behind proxies and address translation say what they know.
 */
#ifndef PROTO_RTSP_URL_H
#define PROTO_RTSP_URL_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- at a server: the url of a request */

/* Strings live in one piece of memory until rtsp_target_free(); none is NULL. */
struct rtsp_target {
    bool all;         /* "*": no stream at all */
    const char *host; /* the name alone, lower case; "": it was a path */
    int port;         /* 0: none was given */
    const char *path; /* decoded, without dot segments, double slashes and the one at the end:
                       * "/live/a", or "" */
    const char *query; /* as it was sent, without the '?' and the track */
    int track;        /* -1: none */
    char *memory;
};

/* "rtsp://h/app/s?k=v/trackID=0", "/app/s/trackID=0?k=v", "/app/s/": however a client adds the
 * track to the url that it has. ERR_RTSP: it is no url, or leads out of the root; ERR_NO_MEMORY.
 * Nothing is to free then. */
err_t rtsp_target_parse(struct rtsp_target *out, const char *url)
    __attribute__((warn_unused_result));
void rtsp_target_free(struct rtsp_target *t); /* all zero is fine */

/* Is this url the one of a track, whose control is that, in a description sent to `base`? Compared
 * are the paths as they were sent, with their queries. */
bool rtsp_url_is_track(const char *url, const char *base, const char *control);

/* ---- at a client: whom to ask, and for what */

/* Strings until rtsp_location_free(); none is NULL. */
struct rtsp_location {
    bool tls;
    char *host;           /* without the brackets of an IPv6 address */
    int port;             /* given, or 554, 322 */
    char *user, *password; /* decoded; "" */
    char *url;            /* the same without user and password: as it stands in requests */
};

/* "rtsp://[user[:password]@]host[:port][/path][?query]", and rtsps. ERR_RTSP; nothing is to free
 * then. The text of the error has no password. */
err_t rtsp_location_parse(struct rtsp_location *out, const char *url)
    __attribute__((warn_unused_result));
void rtsp_location_free(struct rtsp_location *p); /* all zero is fine */

/* The url of a control of a description that came from `base`; to be freed. It is put behind the
 * base with one slash between them, which is what cameras expect and RFC 3986 is not. Of a control
 * that is a whole url, the host is that of the base. */
char *rtsp_url_join(const char *base, const char *control);

#endif
