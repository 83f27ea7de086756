/* SPDX-License-Identifier: MIT */
/* out.c - what an endpoint has to say, sent together. */
#include "serve/datagram/out.h"

#include "base/container_of.h"

#include <assert.h>

void datagram_out_flush(struct datagram_out *o)
{
    struct udp *socket = o->endpoint->socket;
    struct udp_out v[DATAGRAM_OUT];
    unsigned n = o->n;

    if (n == 0)
        return;
    for (unsigned i = 0; i < n; i++)
        v[i] = (struct udp_out){ &o->iov[i], 1, 0, &o->paths[i], UDP_NOT_ECT };
    socket->stat.drops += n - udp_send(socket, v, n);
    o->n = 0;
    o->used = 0;
}

static void on_task(struct co_task *t)
{
    datagram_out_flush(container_of(t, struct datagram_out, task));
}

uint8_t *datagram_out_room(struct datagram_out *o, size_t most)
{
    assert(most <= DATAGRAM_OUT_BYTES);
    if (o->n == DATAGRAM_OUT || o->used + most > DATAGRAM_OUT_BYTES)
        datagram_out_flush(o);
    return o->bytes + o->used;
}

void datagram_out_put(struct datagram_out *o, size_t size, const struct udp_path *path)
{
    if (size == 0)
        return;
    if (o->n == 0)
        co_post(&o->task, on_task);
    o->iov[o->n] = (struct iovec){ o->bytes + o->used, size };
    o->paths[o->n++] = *path;
    o->used += size;
}

void datagram_out_end(struct datagram_out *o)
{
    datagram_out_flush(o);
    co_post_cancel(&o->task);
}
