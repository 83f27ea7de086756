/* SPDX-License-Identifier: MIT */
/* peer.c - a pipe to a peer that sends something, then waits, then sends more; for fuzz_time_flies().
 *
 * With plain memory everything is there at once, and the server's behavior during a peer's silence is
 * never tested.
 */
#include "fuzz.h"
#include "io_mem.h"

static struct fuzz_peer *peer_of(struct io *io)
{
    return (struct fuzz_peer *)io;
}

static bool ended(const struct fuzz_peer *p)
{
    return p->rest.in_size == 0;
}

/* Some time passes. */
static void go_on(struct fuzz_peer *p)
{
    bool all = p->pauses == 0 || p->piece == 0 || p->piece > p->rest.in_size;

    p->ready = all ? p->rest.in_size : p->piece;
    if (p->pauses > 0)
        p->pauses--;
    p->taken = 0;
    if (p->meanwhile)
        p->meanwhile(p->arg);
}

static err_t peer_read_now(struct io *io, void *buf, size_t size, size_t *n)
{
    struct fuzz_peer *p = peer_of(io);
    err_t err;

    *n = 0;
    if (p->ready == 0 && !ended(p))
        return NULL;
    if (size > p->ready && p->ready > 0)
        size = p->ready;
    err = p->rest.io.ops->read_now(&p->rest.io, buf, size, n);
    p->ready -= *n;
    return err;
}

static enum co_wake peer_wait(struct io *io, bool out, co_usec timeout)
{
    struct fuzz_peer *p = peer_of(io);
    co_usec wait = timeout == CO_FOREVER || timeout > p->every ? p->every : timeout;
    enum co_wake woken;

    if (!out && (p->ready > 0 || ended(p)))
        return CO_WOKEN;
    woken = co_park(wait);
    if (woken != CO_TIMEOUT)
        return woken;
    go_on(p);
    return timeout == wait ? CO_TIMEOUT : CO_WOKEN;
}

static err_t peer_read(struct io *io, void *buf, size_t size, size_t *n)
{
    err_t err = NULL;

    *n = 0;
    while (!err && *n == 0) {
        err = peer_read_now(io, buf, size, n);
        if (!err && *n == 0 && peer_wait(io, false, CO_FOREVER) == CO_STOPPED)
            err = err_new(ERR_STOPPED, "in read");
    }
    return err;
}

static err_t peer_writev(struct io *io, struct iovec *iov, int count)
{
    struct fuzz_peer *p = peer_of(io);

    return p->rest.io.ops->writev(&p->rest.io, iov, count);
}

static err_t peer_send_some(struct io *io, const struct iovec *iov, int count, size_t *n)
{
    struct fuzz_peer *p = peer_of(io);
    size_t total = 0;

    for (int i = 0; i < count; i++)
        total += iov[i].iov_len;
    if (p->window && total > p->window - p->taken)
        total = p->window - p->taken;
    p->taken += p->window ? total : 0;
    if (total > p->rest.out_cap - p->rest.out_size)
        return err_new(ERR_IO_RESET, "memory is full");
    p->rest.out_size += total;
    *n = total;
    return NULL;
}

static bool peer_readable(struct io *io)
{
    return peer_of(io)->ready > 0 || ended(peer_of(io));
}

static void peer_close(struct io *io)
{
    (void)io;
}

static const struct io_ops peer_ops = {
    .name = "peer",
    .read = peer_read,
    .read_now = peer_read_now,
    .writev = peer_writev,
    .send_some = peer_send_some,
    .readable = peer_readable,
    .wait = peer_wait,
    .close = peer_close,
};

void fuzz_peer_init(struct fuzz_peer *p, const void *in, size_t size, size_t piece)
{
    *p = (struct fuzz_peer){ .io = { .ops = &peer_ops, .read_timeout = CO_FOREVER },
                             .piece = piece, .every = CO_MS(40), .pauses = 100 };
    io_mem_init(&p->rest, in, size);
    p->rest.out_cap = 1 << 20;
    p->ready = piece && piece < size ? piece : size;
}
