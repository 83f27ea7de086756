/* SPDX-License-Identifier: MIT */
/* io.c - a byte pipe: the code that all transports share. */
#include "co/net/io.h"

#include "base/iov.h"

#include <string.h>

/* Calls that wait let others run. Calls that do not, because the peer is as fast as we are, are
 * counted: after a few without a wait, this checks whether the coroutine's time slice is over. */
static void yield_to_others(void)
{
    enum { A_FEW = 4 };
    static _Thread_local co_usec turn; /* start of the current turn; identifies the coroutine */
    static _Thread_local unsigned calls;

    if (turn != co_now()) {
        turn = co_now();
        calls = 0;
    } else if (++calls % A_FEW == 0) {
        co_yield_if_due();
    }
}

err_t io_read(struct io *io, void *buf, size_t size, size_t *n)
{
    err_t err;

    yield_to_others();
    err = io->ops->read(io, buf, size, n);

    if (!err)
        io->bytes_in += *n;
    return err;
}

err_t io_read_now(struct io *io, void *buf, size_t size, size_t *n)
{
    err_t err = io->ops->read_now(io, buf, size, n);

    if (!err)
        io->bytes_in += *n;
    return err;
}

err_t io_read_full(struct io *io, void *buf, size_t size)
{
    uint8_t *p = buf;
    size_t got = 0, n;

    while (got < size) {
        err_t err = io_read(io, p + got, size - got, &n);

        if (err)
            return err_wrap(err, "read %zu of %zu bytes", got, size);
        got += n;
    }
    return NULL;
}

err_t io_writev(struct io *io, struct iovec *iov, int count)
{
    size_t total = iov_size(iov, count);
    err_t err;

    yield_to_others();
    err = io->ops->writev(io, iov, count);
    if (!err)
        io->bytes_out += total;
    return err;
}

err_t io_write(struct io *io, const void *buf, size_t size)
{
    struct iovec iov = { (void *)(uintptr_t)buf, size };

    return io_writev(io, &iov, 1);
}

err_t io_send_some(struct io *io, const struct iovec *iov, int count, size_t *n)
{
    err_t err = io->ops->send_some(io, iov, count, n);

    if (!err)
        io->bytes_out += *n;
    return err;
}

bool io_can_send_file(const struct io *io)
{
    return io->ops->send_file != NULL;
}

err_t io_send_file(struct io *io, int fd, int64_t at, size_t size, size_t *n)
{
    err_t err = io->ops->send_file(io, fd, at, size, n);

    if (!err)
        io->bytes_out += *n;
    return err;
}

bool io_readable(struct io *io)
{
    return io->ops->readable(io);
}

enum co_wake io_wait(struct io *io, bool out, co_usec timeout)
{
    return io->ops->wait(io, out, timeout);
}

void io_close(struct io *io)
{
    if (io)
        io->ops->close(io);
}

void io_detach(struct io *io)
{
    for (; io; io = io->below) {
        if (io->ops->detach)
            io->ops->detach(io);
    }
}

err_t io_attach(struct io *io)
{
    err_t err = NULL;

    for (; io && !err; io = io->below) {
        if (io->ops->attach)
            err = io->ops->attach(io);
    }
    return err;
}
