/* SPDX-License-Identifier: MIT */
/* io.h - a byte pipe: TCP, TLS, or memory in tests.
 *
 * Protocol code uses struct io and nothing below it, so it runs over any transport and, in a unit
 * test, over bytes in memory without a scheduler.
 */
#ifndef CO_NET_IO_H
#define CO_NET_IO_H

#include "base/err.h"
#include "co/co.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

struct io;

struct io_ops {
    const char *name;
    /* Reads 1..size bytes into buf; *n is the number. ERR_IO_CLOSED at the end of stream.
     * Yields. */
    err_t (*read)(struct io *io, void *buf, size_t size, size_t *n);
    /* Same without waiting: *n is 0 when nothing is available. Never yields. */
    err_t (*read_now)(struct io *io, void *buf, size_t size, size_t *n);
    /* Writes all of it or fails; may change iov. Yields. */
    err_t (*writev)(struct io *io, struct iovec *iov, int count);
    /* Writes what the peer's window takes now; *n may be 0. Does not change iov. Never yields. */
    err_t (*send_some)(struct io *io, const struct iovec *iov, int count, size_t *n);
    /* Checks whether a read may return at once (bytes, end, error). No system call. Never
     * yields. */
    bool (*readable)(struct io *io);
    /* Waits until the peer takes more bytes (`out`) or has sent some, until the connection ends,
     * co_unpark(), the timeout, or a stop. Spurious returns are CO_WOKEN. Yields. */
    enum co_wake (*wait)(struct io *io, bool out, co_usec timeout);
    void (*close)(struct io *io);
    /* Sends bytes of a file without copying them here, like send_some: never waits for the peer,
     * but waits for the disk if they are not in memory. NULL: not supported. */
    err_t (*send_file)(struct io *io, int fd, int64_t at, size_t size, size_t *n);
    /* This layer's part of io_detach() and io_attach(). NULL: the layer has no state of a
     * thread. */
    void (*detach)(struct io *io);
    err_t (*attach)(struct io *io);
};

struct io {
    const struct io_ops *ops;
    struct io *below; /* the pipe below this one (TCP below TLS), or NULL */
    co_usec read_timeout, write_timeout; /* how long one call may wait, or CO_FOREVER */
    uint64_t bytes_in, bytes_out;
    bool more; /* more output follows at once: both may go in one packet */
    /* when send_some() may continue, if its own pace limit cut it short; 0: it did not */
    co_usec again;
};

/* Calls that may wait (read, write) first let others run, like co_yield_if_due(). */
err_t io_read(struct io *io, void *buf, size_t size, size_t *n);
err_t io_read_now(struct io *io, void *buf, size_t size, size_t *n);
err_t io_read_full(struct io *io, void *buf, size_t size); /* exactly size bytes */
err_t io_writev(struct io *io, struct iovec *iov, int count);
err_t io_write(struct io *io, const void *buf, size_t size); /* writes all of it */
err_t io_send_some(struct io *io, const struct iovec *iov, int count, size_t *n);
bool  io_can_send_file(const struct io *io);
err_t io_send_file(struct io *io, int fd, int64_t at, size_t size, size_t *n);
bool  io_readable(struct io *io);
enum co_wake io_wait(struct io *io, bool out, co_usec timeout);
void  io_close(struct io *io); /* closes and frees; io may be NULL */

/* Moves a connection to another thread. io_detach() removes it, with the pipes below it, from the
 * scheduler of the calling thread and leaves it open; io_attach() adds it to that of the calling
 * thread. Events between the two are reported there as if they happened after the attach; data
 * already received or waiting to be sent (TLS) moves along. Neither yields.
 *
 * No call on it may be in progress when it is detached: no coroutine reads, writes or waits, and
 * the TLS handshake is done. Between the two calls, the only permitted operation is close, on any
 * thread with a scheduler. The threads hand it over with something that orders memory (a mailbox).
 */
void  io_detach(struct io *io);
/* On error (out of memory) it is still detached. */
err_t io_attach(struct io *io) __attribute__((warn_unused_result));

#endif
