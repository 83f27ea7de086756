/* SPDX-License-Identifier: MIT */
/* out.c - collects datagrams of an endpoint and sends them together. */
#include "serve/datagram/out.h"

#include "base/container_of.h"

#include <assert.h>
#include <string.h>

/* Counts consecutive datagrams that can be sent as one batch: to the same peer, all of the same
 * size except the last, which may be smaller. */
static unsigned row_at(const struct datagram_out *o, unsigned from)
{
    size_t each = o->iov[from].iov_len;
    unsigned i = from + 1;

    while (i < o->n && o->iov[i - 1].iov_len == each && o->iov[i].iov_len <= each &&
           memcmp(&o->paths[i], &o->paths[from], sizeof(o->paths[0])) == 0)
        i++;
    return i - from;
}

static size_t sum_of(const unsigned *counts, size_t n)
{
    size_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += counts[i];
    return sum;
}

/* Passes each batch to the kernel in one call. */
void datagram_out_flush(struct datagram_out *o)
{
    struct udp_out v[DATAGRAM_OUT];
    unsigned counts[DATAGRAM_OUT], rows = 0;
    struct udp *socket;

    if (o->n == 0)
        return;
    socket = o->endpoint->socket;
    for (unsigned i = 0; i < o->n; i += counts[rows++]) {
        unsigned n = counts[rows] = row_at(o, i);

        v[rows] = (struct udp_out){ &o->iov[i], (int)n, n > 1 ? o->iov[i].iov_len : 0,
                                    &o->paths[i], UDP_NOT_ECT };
    }
    socket->stat.drops += o->n - sum_of(counts, udp_send(socket, v, rows));
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
