/* SPDX-License-Identifier: MIT */
/* proxy.h - the PROXY protocol, versions 1 and 2: who is behind a balancer, told before the first
 * byte of the connection. The specification is HAProxy's proxy-protocol.txt. */
#ifndef PROTO_PROXY_PROXY_H
#define PROTO_PROXY_PROXY_H

#include "base/ip.h"
#include "co/net/io.h"

enum {
    PROXY_V1_MAX = 107, /* bytes of a line */
    PROXY_MAX = 2048,   /* of a header of version 2 with all its further fields */
};

struct proxy_peer {
    bool known; /* false: the connection is the proxy's own, or of no kind that has an address */
    char ip[IP_TEXT];
    int port;
};

/* *need is how many bytes the header has at least, in view of the first `size` ones; when it is not
 * more than `size` the header is complete, *need is what it takes, and *out says who. ERR_PROXY for
 * what cannot become one, ERR_TOO_LARGE; as early as it can be seen. */
err_t proxy_parse(const uint8_t *data, size_t size, struct proxy_peer *out, size_t *need)
    __attribute__((warn_unused_result));
/* Read a header, all of it in this time, and not one byte of what follows. Yields. */
err_t proxy_read(struct io *io, struct proxy_peer *out, co_usec timeout)
    __attribute__((warn_unused_result));

#endif
