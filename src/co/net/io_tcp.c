/* SPDX-License-Identifier: MIT */
/* io_tcp.c - struct io over a stream socket.
 *
 * Each descriptor is in epoll once, edge-triggered, and state-threads keeps the last reported
 * state. So a wait is a park, a short read needs no second system call to learn that nothing is
 * left, and a player's loop can check for input from its peer for free.
 */
#include "co/net/io_tcp.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <st.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "co/net/io_sys.h"
#include "co/sock.h"

struct io_tcp {
    struct io io;
    struct sock sock;
    uint32_t pace;       /* bytes per second; 0: no limit */
    unsigned quick_acks; /* number of reads still to acknowledge at once */
};

static const struct io_ops tcp_ops;

static struct io_tcp *tcp_of(struct io *io)
{
    assert(io->ops == &tcp_ops);
    return (struct io_tcp *)io;
}

static struct io *lowest(struct io *io)
{
    while (io->below)
        io = io->below;
    return io;
}

static err_t from_errno(const char *call)
{
    switch (errno) {
    case ECONNRESET:
    case EPIPE:
    case ETIMEDOUT:
        return err_sys(ERR_IO_RESET, "%s", call);
    default:
        return err_sys(ERR_IO_SYSTEM, "%s", call);
    }
}

static err_t wait_for(struct io_tcp *t, int bits, co_usec timeout, const char *call)
{
    switch (sock_wait(&t->sock, bits, timeout)) {
    case CO_TIMEOUT:
        return err_new(ERR_IO_TIMEOUT, "%s waited %lld ms", call, us_to_ms(timeout));
    case CO_STOPPED:
        return err_wrap(co_stop_why(), "in %s", call);
    case CO_WOKEN:
        break;
    }
    return NULL;
}

/* Requests an immediate acknowledgement. The setting lasts until our next answer, so it is renewed
 * after each read. At the end the kernel is told that this is an interactive connection, as it
 * would have detected on its own: otherwise it would keep acknowledging each read of media with a
 * separate packet, which can be a quarter of the read's cost. */
static void acknowledge(struct io_tcp *t)
{
    int on = --t->quick_acks > 0;

    (void)setsockopt(t->sock.fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
}

err_t io_tcp_read_now(struct io *io, void *buf, size_t size, size_t *n)
{
    struct io_tcp *t = tcp_of(io);
    ssize_t got;

    do {
        got = io_sys_recv(t->sock.fd, buf, size, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    *n = got > 0 ? (size_t)got : 0;
    if (got < 0 && errno != EAGAIN)
        return from_errno("read");
    if (got == 0)
        return err_new(ERR_IO_CLOSED, "read");
    if (got < (ssize_t)size)
        st_netfd_unready(t->sock.st, POLLIN);
    if (t->quick_acks > 0 && got > 0)
        acknowledge(t);
    return NULL;
}

static err_t tcp_read(struct io *io, void *buf, size_t size, size_t *n)
{
    struct io_tcp *t = tcp_of(io);
    err_t err;

    for (;;) {
        if (sock_ready(&t->sock, POLLIN)) {
            err = io_tcp_read_now(io, buf, size, n);
            if (err || *n > 0)
                return err;
        }
        err = wait_for(t, POLLIN, io->read_timeout, "read");
        if (err)
            return err;
    }
}

err_t io_tcp_drop(struct io *io, size_t *n)
{
    enum { ALL = 1 << 30 };
    struct io_tcp *t = tcp_of(io);
    err_t err;

    for (;;) {
        if (sock_ready(&t->sock, POLLIN)) {
            ssize_t got;

            do {
                got = io_sys_recv(t->sock.fd, NULL, ALL, MSG_DONTWAIT | MSG_TRUNC);
            } while (got < 0 && errno == EINTR);
            *n = got > 0 ? (size_t)got : 0;
            if (got == 0)
                return err_new(ERR_IO_CLOSED, "read");
            if (got < 0 && errno != EAGAIN)
                return from_errno("read");
            st_netfd_unready(t->sock.st, POLLIN);
            io->bytes_in += *n;
            if (got > 0)
                return NULL;
        }
        err = wait_for(t, POLLIN, io->read_timeout, "read");
        if (err)
            return err;
    }
}

/* Maximum bytes per send call: to a peer on the same machine this takes half a millisecond. */
enum { A_CALL = 512 * 1024 };

/* Returns how many ranges to send in one call, and their total bytes. A single range may exceed the
 * limit; then only part of it is sent. */
static int clip(const struct iovec *iov, int count, size_t *total)
{
    int n = 1;

    *total = iov->iov_len < A_CALL ? iov->iov_len : A_CALL;
    while (n < count && *total + iov[n].iov_len <= A_CALL)
        *total += iov[n++].iov_len;
    return n;
}

/* Sends the ranges. A single range, the most frequent case for players, needs no message header
 * that the kernel has to copy. */
static ssize_t send_ranges(int fd, const struct iovec *iov, int count, size_t total, int flags)
{
    struct msghdr msg = { .msg_iov = (struct iovec *)(uintptr_t)iov, .msg_iovlen = (size_t)count };

    if (count == 1)
        return io_sys_send(fd, iov->iov_base, total, flags);
    return io_sys_sendmsg(fd, &msg, flags);
}

static err_t tcp_send_some(struct io *io, const struct iovec *iov, int count, size_t *n)
{
    struct io_tcp *t = tcp_of(io);
    int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (io->more ? MSG_MORE : 0);
    size_t total = 0;
    ssize_t put;

    count = clip(iov, count, &total);
    do {
        put = send_ranges(t->sock.fd, iov, count, total, flags);
    } while (put < 0 && errno == EINTR);
    if (put < 0 && errno != EAGAIN)
        return from_errno("write");
    *n = put > 0 ? (size_t)put : 0;
    if (*n < total && t->sock.st) /* without it, the socket is being closed while detached */
        st_netfd_unready(t->sock.st, POLLOUT);
    return NULL;
}

static err_t tcp_writev(struct io *io, struct iovec *iov, int count)
{
    struct io_tcp *t = tcp_of(io);
    size_t n;
    err_t err;

    while (count > 0) {
        err = tcp_send_some(io, iov, count, &n);
        if (err)
            return err;
        while (count > 0 && n >= iov->iov_len) {
            n -= iov->iov_len;
            iov++;
            count--;
        }
        if (count == 0)
            break;
        iov->iov_base = (char *)iov->iov_base + n;
        iov->iov_len -= n;
        err = wait_for(t, POLLOUT, io->write_timeout, "write");
        if (err)
            return err;
        co_yield_if_due(); /* it may not have waited */
    }
    return NULL;
}

static err_t tcp_send_file(struct io *io, int fd, int64_t at, size_t size, size_t *n)
{
    struct io_tcp *t = tcp_of(io);
    off_t from = at;
    ssize_t put;

    do {
        put = sendfile(t->sock.fd, fd, &from, size < A_CALL ? size : A_CALL);
    } while (put < 0 && errno == EINTR);
    if (put < 0 && errno != EAGAIN)
        return from_errno("sendfile");
    if (put == 0)
        return err_new(ERR_IO_SYSTEM, "the file became shorter");
    *n = put > 0 ? (size_t)put : 0;
    if (put < 0)
        st_netfd_unready(t->sock.st, POLLOUT);
    return NULL;
}

static bool tcp_readable(struct io *io)
{
    return sock_ready(&tcp_of(io)->sock, POLLIN);
}

static enum co_wake tcp_wait(struct io *io, bool out, co_usec timeout)
{
    return sock_wait(&tcp_of(io)->sock, out ? POLLOUT : POLLIN, timeout);
}

static void tcp_close(struct io *io)
{
    struct io_tcp *t = tcp_of(io);

    sock_close(&t->sock);
    free(t);
}

static void tcp_detach(struct io *io)
{
    sock_detach(&tcp_of(io)->sock);
}

static err_t tcp_attach(struct io *io)
{
    struct sock *s = &tcp_of(io)->sock;

    return sock_open(s, s->fd);
}

static const struct io_ops tcp_ops = {
    .name = "tcp",
    .read = tcp_read,
    .read_now = io_tcp_read_now,
    .writev = tcp_writev,
    .send_some = tcp_send_some,
    .readable = tcp_readable,
    .wait = tcp_wait,
    .close = tcp_close,
    .send_file = tcp_send_file,
    .detach = tcp_detach,
    .attach = tcp_attach,
};

err_t io_tcp_open(struct io **out, int fd)
{
    struct io_tcp *t = calloc(1, sizeof(*t));
    err_t err;

    if (!t)
        return err_new(ERR_NO_MEMORY, "io_tcp");
    t->io = (struct io){ .ops = &tcp_ops, .read_timeout = CO_FOREVER, .write_timeout = CO_FOREVER };
    err = sock_open(&t->sock, fd);
    if (err) {
        free(t);
        return err;
    }
    *out = &t->io;
    return NULL;
}

static err_t connect_wait(struct io_tcp *t, const struct sockaddr_storage *to, socklen_t size,
                          co_usec timeout)
{
    int error = 0;
    socklen_t n = sizeof(error);
    err_t err;

    if (connect(t->sock.fd, (const struct sockaddr *)to, size) == 0)
        return NULL;
    if (errno != EINPROGRESS && errno != EINTR)
        return err_sys(ERR_IO_CONNECT, "connect");
    /* A socket that was never connected reports a hang-up: reset that and wait for the real
     * answer. */
    for (co_usec until = co_now() + timeout;;) {
        struct pollfd pfd = { .fd = t->sock.fd, .events = POLLOUT };
        co_usec left = until - co_now();

        if (poll(&pfd, 1, 0) > 0)
            break;
        err = wait_for(t, POLLOUT, left > 0 ? left : 0, "connect");
        if (err)
            return err_code(err) == ERR_IO_TIMEOUT ? err_wrap(err, "no answer") : err;
        st_netfd_unready(t->sock.st, POLLOUT);
    }
    if (getsockopt(t->sock.fd, SOL_SOCKET, SO_ERROR, &error, &n) < 0)
        error = errno;
    errno = error;
    return error ? err_sys(ERR_IO_CONNECT, "connect") : NULL;
}

static err_t bind_to(int fd, const char *ip)
{
    struct sockaddr_storage addr;
    socklen_t size;
    int on = 1;
    err_t err = sock_addr(&addr, &size, ip, 0);

    (void)setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    if (!err && bind(fd, (struct sockaddr *)&addr, size) < 0)
        err = err_sys(ERR_SOCKET_BIND, "%s", ip);
    return err;
}

err_t io_tcp_connect(struct io **out, const char *ip, int port, const char *bind_ip,
                     co_usec timeout)
{
    struct sockaddr_storage addr;
    socklen_t size;
    struct io *io = NULL;
    err_t err = sock_addr(&addr, &size, ip, port);
    int fd;

    if (err)
        return err;
    fd = socket(addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_sys(ERR_SOCKET_CREATE, "socket");
    if (bind_ip && *bind_ip)
        err = bind_to(fd, bind_ip);
    if (!err)
        err = io_tcp_open(&io, fd);
    if (err) {
        (void)close(fd);
        return err;
    }
    assert(io);
    err = connect_wait(tcp_of(io), &addr, size, timeout);
    if (err) {
        io_close(io);
        return err_wrap(err, "%s:%d", ip, port);
    }
    *out = io;
    return NULL;
}

void io_tcp_nodelay(struct io *io, bool on)
{
    int v = on;

    io = lowest(io);
    if (io->ops == &tcp_ops)
        (void)setsockopt(tcp_of(io)->sock.fd, IPPROTO_TCP, TCP_NODELAY, &v, sizeof(v));
}

void io_tcp_pace(struct io *io, uint64_t bytes_per_second)
{
    uint32_t v = bytes_per_second < UINT32_MAX ? (uint32_t)bytes_per_second : 0;
    uint32_t rate = v ? v : UINT32_MAX;

    io = lowest(io);
    if (io->ops != &tcp_ops || tcp_of(io)->pace == v)
        return;
    tcp_of(io)->pace = v;
    (void)setsockopt(tcp_of(io)->sock.fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate));
}

void io_tcp_quick_acks(struct io *io, unsigned reads)
{
    io = lowest(io);
    if (io->ops == &tcp_ops)
        tcp_of(io)->quick_acks = reads;
}

void io_tcp_read_low(struct io *io, int bytes)
{
    if (io->ops == &tcp_ops)
        (void)setsockopt(tcp_of(io)->sock.fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes));
}

size_t io_tcp_pending(const struct io *io)
{
    int n = 0;

    if (io->ops != &tcp_ops) /* bytes in TLS buffers are not decrypted yet */
        return 0;
    return ioctl(io_tcp_fd(io), FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
}

int io_tcp_fd(const struct io *io)
{
    struct io *low = lowest((struct io *)(uintptr_t)io);

    return low->ops == &tcp_ops ? tcp_of(low)->sock.fd : -1;
}

void io_tcp_peer(const struct io *io, char ip[IO_ADDR_SIZE], int *port)
{
    struct sockaddr_storage addr = { 0 };
    socklen_t size = sizeof(addr);

    ip[0] = '\0';
    *port = 0;
    if (io->ops == &tcp_ops && getpeername(io_tcp_fd(io), (struct sockaddr *)&addr, &size) == 0)
        sock_text(&addr, ip, IO_ADDR_SIZE, port);
}

void io_tcp_local(const struct io *io, char ip[IO_ADDR_SIZE], int *port)
{
    struct sockaddr_storage addr = { 0 };
    socklen_t size = sizeof(addr);
    int fd = io_tcp_fd(io);

    ip[0] = '\0';
    *port = 0;
    if (fd >= 0 && getsockname(fd, (struct sockaddr *)&addr, &size) == 0)
        sock_text(&addr, ip, IO_ADDR_SIZE, port);
}
