/* SPDX-License-Identifier: MIT */
/* redirect.h - selects the servers that a client is redirected to. Nothing here yields. */
#ifndef SERVE_RTMFP_REDIRECT_H
#define SERVE_RTMFP_REDIRECT_H

#include "proto/rtmfp/chunks.h"

enum { RTMFP_REDIRECTS_MAX = 24 };

/* Returns the app named in an IHello (its ancillary data): the first part of a URI's path, or
 * everything if it is no URI. Points into it. */
struct rtmfp_bytes rtmfp_redirect_app(struct rtmfp_bytes named);

/* Copies all servers, at most RTMFP_REDIRECTS_MAX; returns their number. */
size_t rtmfp_redirect_all(const struct udp_addr *servers, size_t n,
                          struct rtmfp_address out[RTMFP_REDIRECTS_MAX]);
/* Selects one server for this app: the same on every caller and for any order of the servers; if a
 * server disappears, only its apps move. Returns 0 if there are none. */
size_t rtmfp_redirect_by_app(const struct udp_addr *servers, size_t n, struct rtmfp_bytes app,
                             struct rtmfp_address out[RTMFP_REDIRECTS_MAX]);

#endif
