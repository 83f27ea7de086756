/* SPDX-License-Identifier: MIT */
/* io.h - a byte pipe: TCP, TLS, or memory in tests.
 *
 * Protocol code talks to struct io and nothing below it, so it runs over any transport and, in a
 * unit test, over bytes in memory with no scheduler.
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
    /* Read 1..size bytes into buf, *n says how many. End of stream is ERR_IO_CLOSED. Yields. */
    err_t (*read)(struct io *io, void *buf, size_t size, size_t *n);
    /* The same without waiting: *n is 0 when nothing is there. Never yields. */
    err_t (*read_now)(struct io *io, void *buf, size_t size, size_t *n);
    /* Write all of it or fail; iov may be changed. Yields. */
    err_t (*writev)(struct io *io, struct iovec *iov, int count);
    /* Write what the peer's window takes now, *n may be 0. Never yields. iov is not changed. */
    err_t (*send_some)(struct io *io, const struct iovec *iov, int count, size_t *n);
    /* May a read give something at once (bytes, end, error)? Never yields, no system call. */
    bool (*readable)(struct io *io);
    /* Wait until the peer takes more bytes (`out`), or else until it sent some; or until it is
     * gone, co_unpark(), the timeout or a stop. Spurious returns are CO_WOKEN. Yields. */
    enum co_wake (*wait)(struct io *io, bool out, co_usec timeout);
    void (*close)(struct io *io);
    /* Send bytes of a file without copying them here, as send_some does: never waits for the
     * peer, but for a disk if they are not in memory. NULL: it cannot be done. */
    err_t (*send_file)(struct io *io, int fd, int64_t at, size_t size, size_t *n);
    /* This layer's part of io_detach() and io_attach(). NULL: it is the same for all threads. */
    void (*detach)(struct io *io);
    err_t (*attach)(struct io *io);
};

struct io {
    const struct io_ops *ops;
    struct io *below; /* what this one runs over (TLS over TCP), or NULL */
    co_usec read_timeout, write_timeout; /* how long one call may wait; CO_FOREVER for ever */
    uint64_t bytes_in, bytes_out;
    bool more; /* what is written now is followed by more at once: both may go in one packet */
    co_usec again; /* send_some() came short by a pace of its own: when it goes on; 0: it did not */
};

/* Those that may wait (read, write) let others run before it as co_yield_if_due() does. */
err_t io_read(struct io *io, void *buf, size_t size, size_t *n);
err_t io_read_now(struct io *io, void *buf, size_t size, size_t *n);
err_t io_read_full(struct io *io, void *buf, size_t size); /* exactly size bytes */
err_t io_writev(struct io *io, struct iovec *iov, int count);
err_t io_write(struct io *io, const void *buf, size_t size); /* all of it */
err_t io_send_some(struct io *io, const struct iovec *iov, int count, size_t *n);
bool  io_can_send_file(const struct io *io);
err_t io_send_file(struct io *io, int fd, int64_t at, size_t size, size_t *n);
bool  io_readable(struct io *io);
enum co_wake io_wait(struct io *io, bool out, co_usec timeout);
void  io_close(struct io *io); /* io may be NULL; closes and frees */

/* A connection goes to another thread. io_detach() takes it, with what it runs over, out of the
 * scheduler of the thread that calls, and leaves it open; io_attach() takes it into that of the
 * thread that calls then. What the peer sends or does meanwhile is told there as if it came then;
 * what has come or waits to go out already (of TLS) goes along. Neither yields.
 *
 * It is at rest when it is detached: no call of it has not returned, so no coroutine reads, writes
 * or waits; TLS has shaken hands. Between the two it may be closed, by any thread that has a
 * scheduler, and nothing else. The threads hand it over by what orders memory (a mailbox). */
void  io_detach(struct io *io);
/* On an error (no memory) it is still detached. */
err_t io_attach(struct io *io) __attribute__((warn_unused_result));

#endif
