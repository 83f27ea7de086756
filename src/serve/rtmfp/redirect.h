/* SPDX-License-Identifier: MIT */
/* redirect.h - which servers a client is sent to that asked for this one. Nothing here yields. */
#ifndef SERVE_RTMFP_REDIRECT_H
#define SERVE_RTMFP_REDIRECT_H

#include "proto/rtmfp/chunks.h"

enum { RTMFP_REDIRECTS_MAX = 24 };

/* The app of what an IHello names (its ancillary data): the first part of a URI's path, or the
 * whole of what is no URI. Points into it. */
struct rtmfp_bytes rtmfp_redirect_app(struct rtmfp_bytes named);

/* All servers, at most RTMFP_REDIRECTS_MAX of them; their count. */
size_t rtmfp_redirect_all(const struct udp_addr *servers, size_t n,
                          struct rtmfp_address out[RTMFP_REDIRECTS_MAX]);
/* One of them for this app: the same whoever chooses and in whatever order they are, and if one
 * server goes, only its apps go elsewhere. 0: there are none. */
size_t rtmfp_redirect_by_app(const struct udp_addr *servers, size_t n, struct rtmfp_bytes app,
                             struct rtmfp_address out[RTMFP_REDIRECTS_MAX]);

#endif
