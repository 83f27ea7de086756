/* SPDX-License-Identifier: MIT */
/* silent_io.h - a pipe to a peer that takes all and says nothing: for tests. */
#ifndef SILENT_IO_H
#define SILENT_IO_H

#include "base/iov.h"
#include "co/net/io.h"

/* A wait for it lasts. */
static inline bool silent_readable(struct io *io)
{
    (void)io;
    return false;
}

static inline enum co_wake silent_wait(struct io *io, bool out, co_usec timeout)
{
    (void)io;
    return out ? CO_WOKEN : co_park(timeout);
}

static inline err_t silent_send_some(struct io *io, const struct iovec *iov, int count, size_t *n)
{
    (void)io;
    *n = iov_size(iov, count);
    return NULL;
}

static const struct io_ops silent_ops = { .name = "silent", .readable = silent_readable,
                                          .wait = silent_wait, .send_some = silent_send_some };

#endif
