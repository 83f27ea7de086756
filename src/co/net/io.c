/* SPDX-License-Identifier: MIT */
/* io.c - a byte pipe: what all transports share, and the one over memory. */
#include "co/net/io.h"

#include "base/iov.h"

#include <string.h>

/* Calls that have to wait let others run. Those that need not, because a peer is as fast as we
 * are, add up: so once the coroutine that calls has done a few without having been away, it looks
 * whether its time is over. */
static void yield_to_others(void)
{
    enum { A_FEW = 4 };
    static _Thread_local co_usec turn; /* when it began: it stands for who has it */
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

static err_t mem_read(struct io *io, void *buf, size_t size, size_t *n)
{
    struct io_mem *m = (struct io_mem *)io;
    size_t take = m->in_size < size ? m->in_size : size;

    if (take == 0)
        return err_new(ERR_IO_CLOSED, "end of memory");
    if (m->piece && take > m->piece)
        take = m->piece;
    memcpy(buf, m->in, take);
    m->in += take;
    m->in_size -= take;
    *n = take;
    return NULL;
}

static err_t mem_writev(struct io *io, struct iovec *iov, int count)
{
    struct io_mem *m = (struct io_mem *)io;

    for (int i = 0; i < count; i++) {
        if (iov[i].iov_len > m->out_cap - m->out_size)
            return err_new(ERR_IO_RESET, "memory is full");
        if (m->out && iov[i].iov_len)
            memcpy(m->out + m->out_size, iov[i].iov_base, iov[i].iov_len);
        m->out_size += iov[i].iov_len;
    }
    return NULL;
}

static err_t mem_send_some(struct io *io, const struct iovec *iov, int count, size_t *n)
{
    struct io_mem *m = (struct io_mem *)io;

    *n = 0;
    for (int i = 0; i < count; i++) {
        size_t room = m->out_cap - m->out_size;
        size_t take = iov[i].iov_len < room ? iov[i].iov_len : room;

        if (m->out && take)
            memcpy(m->out + m->out_size, iov[i].iov_base, take);
        m->out_size += take;
        *n += take;
    }
    return NULL;
}

static bool mem_readable(struct io *io)
{
    (void)io;
    return true;
}

static enum co_wake mem_wait(struct io *io, bool out, co_usec timeout)
{
    (void)io;
    (void)out;
    (void)timeout;
    return CO_TIMEOUT; /* nothing will ever come */
}

static void mem_close(struct io *io)
{
    (void)io;
}

static const struct io_ops mem_ops = {
    .name = "memory",
    .read = mem_read,
    .read_now = mem_read,
    .writev = mem_writev,
    .send_some = mem_send_some,
    .readable = mem_readable,
    .wait = mem_wait,
    .close = mem_close,
};

void io_mem_init(struct io_mem *m, const void *in, size_t in_size)
{
    *m = (struct io_mem){ .io = { .ops = &mem_ops }, .in = in, .in_size = in_size };
}
