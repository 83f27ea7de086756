/* SPDX-License-Identifier: MIT */
/* out.h - what an endpoint has to say, sent together: when a batch has been read, when there is no
 * more room, or else when the coroutine that runs gives way. */
#ifndef SERVE_DATAGRAM_OUT_H
#define SERVE_DATAGRAM_OUT_H

#include "serve/datagram/datagram.h"

enum { DATAGRAM_OUT = 64, DATAGRAM_OUT_BYTES = 80 << 10 };

struct datagram_out {
    struct datagram_endpoint *endpoint; /* set by who has it; the rest begins as 0 */
    unsigned n;
    size_t used;
    struct co_task task;
    struct udp_path paths[DATAGRAM_OUT];
    struct iovec iov[DATAGRAM_OUT];
    uint8_t bytes[DATAGRAM_OUT_BYTES];
};

/* None of these yields. */

/* Room for a datagram of up to so many bytes; then put it there with its size, 0:
 * it was none. */
uint8_t *datagram_out_room(struct datagram_out *o, size_t most);
void datagram_out_put(struct datagram_out *o, size_t size, const struct udp_path *path);
void datagram_out_flush(struct datagram_out *o); /* fine if there is nothing */
void datagram_out_end(struct datagram_out *o);   /* flushed for the last time */

#endif
