/* SPDX-License-Identifier: MIT */
/* url.h - splits URLs, hosts and ports (RFC 3986). */
#ifndef BASE_URL_H
#define BASE_URL_H

#include <stdbool.h>
#include <stddef.h>

/* "host", "host:port", "[v6]", "[v6]:port" or a bare v6 address. */
struct host_port {
    const char *host, *port; /* parts of the text, the host without brackets; port NULL: none */
    size_t host_n, port_n;
    bool bad;                /* '[' without ']', or no port after the ']' */
};

struct host_port host_port_split(const char *text, size_t size);
/* 1 to 65535; 0: no port, or not a valid one. */
int host_port_number(const struct host_port *p);

/* "scheme://user:password@host:port/path?query#fragment". Without a scheme all of it is path. */
struct url {
    const char *scheme, *user; /* parts of the text */
    const char *authority;     /* starts after "user:password@" */
    const char *path;          /* starts after host and port */
    size_t scheme_n, user_n;   /* 0: there is none */
    struct host_port at;
};

struct url url_split(const char *text, size_t size);
/* No spaces or control characters, which could split the first line of a request in two. */
bool url_is_clean(const char *url);
bool url_is(const struct url *u, const char *scheme); /* case does not count */

#endif
