/* SPDX-License-Identifier: MIT */
/* io_mem.c - reads and writes of memory. */
#include "io_mem.h"

#include <string.h>

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
