/* SPDX-License-Identifier: MIT */
/* proxy.h - the PROXY protocol, versions 1 and 2: a load balancer sends the client's address before
 * the first byte of the connection. Specified in HAProxy's proxy-protocol.txt.
 */
#ifndef PROTO_PROXY_PROXY_H
#define PROTO_PROXY_PROXY_H

#include "base/ip.h"
#include "co/net/io.h"

enum {
    PROXY_V1_MAX = 107, /* limit of a line, in bytes */
    PROXY_MAX = 2048,   /* limit of a version 2 header with all its fields */
};

struct proxy_peer {
    bool known; /* false: the proxy's own connection, or one of a kind without addresses */
    char ip[IP_TEXT];
    int port;
};

/* Parses a header from its first `size` bytes. *need becomes the minimum size of the header; if it
 * is at most `size`, the header is complete, *need is its size, and *out the client. ERR_PROXY for
 * invalid input and ERR_TOO_LARGE, as early as possible. */
err_t proxy_parse(const uint8_t *data, size_t size, struct proxy_peer *out, size_t *need)
    __attribute__((warn_unused_result));
/* Reads a header within this time, and no byte after it. Yields. */
err_t proxy_read(struct io *io, struct proxy_peer *out, co_usec timeout)
    __attribute__((warn_unused_result));

#endif
