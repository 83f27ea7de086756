/* SPDX-License-Identifier: MIT */
/* drop.c - take the bytes of a stream and drop them as cheaply as the kernel allows. */
#include "tools/load/watch.h"

#include "co/net/io_tcp.h"

enum { LOW_MIN = 16 * 1024, LOW_MAX = 256 * 1024, LOW_MS = 400, ALIVE_S = 20 };

/* Bytes of LOW_MS of this stream as it came so far. */
static int low_mark(co_usec since, uint64_t bytes)
{
    co_usec passed = co_now() - since;
    uint64_t low = passed > 0 ? bytes * LOW_MS * 1000 / (uint64_t)passed : LOW_MIN;

    return (int)(low < LOW_MIN ? LOW_MIN : low > LOW_MAX ? LOW_MAX : low);
}

err_t load_drop(struct load_client *c, err_t (*alive)(struct load_client *c))
{
    co_usec since = co_now(), tuned = since, told = since;
    uint64_t from = c->bytes;
    err_t err = NULL;

    io_tcp_read_low(c->talk.io, LOW_MIN);
    while (!err && !load_is_over(c)) {
        size_t n = 0;

        load_limit_wait(c);
        err = load_unless_over(c, io_tcp_drop(c->talk.io, &n));
        c->bytes += n;
        c->run->stat.bytes_in += n;
        if (co_now() - tuned > CO_SECONDS(2)) { /* after the burst of the join, and as it changes */
            io_tcp_read_low(c->talk.io, low_mark(tuned, c->bytes - from));
            tuned = co_now();
            from = c->bytes;
        }
        if (!err && alive && co_now() - told > CO_SECONDS(ALIVE_S)) {
            err = alive(c);
            told = co_now();
        }
        if (!err)
            err = co_check();
    }
    return err;
}
