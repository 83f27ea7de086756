/* SPDX-License-Identifier: MIT */
/* out.h - collects datagrams of an endpoint and sends them together: after a batch was read, when
 * the buffer is full, or when the running coroutine yields. */
#ifndef SERVE_DATAGRAM_OUT_H
#define SERVE_DATAGRAM_OUT_H

#include "serve/datagram/datagram.h"

enum { DATAGRAM_OUT = 64, DATAGRAM_OUT_BYTES = 80 << 10 };

struct datagram_out {
    struct datagram_endpoint *endpoint; /* set by the owner; the rest is initially 0 */
    unsigned n;
    size_t used;
    struct co_task task;
    struct udp_path paths[DATAGRAM_OUT];
    struct iovec iov[DATAGRAM_OUT];
    uint8_t bytes[DATAGRAM_OUT_BYTES];
};

/* None of these yields. */

/* Returns space for a datagram of up to `most` bytes; then call datagram_out_put() with its size,
 * or 0 for none. */
uint8_t *datagram_out_room(struct datagram_out *o, size_t most);
void datagram_out_put(struct datagram_out *o, size_t size, const struct udp_path *path);
void datagram_out_flush(struct datagram_out *o); /* fine if it is empty */
void datagram_out_end(struct datagram_out *o);   /* flushes and frees it */

#endif
