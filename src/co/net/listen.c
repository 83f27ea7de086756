/* SPDX-License-Identifier: MIT */
/* listen.c - a listening socket. */
#include "base/log.h"
#include "co/net/io_tcp.h"
#include "co/sock.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <st.h>
#include <stdlib.h>
#include <unistd.h>

struct io_listener {
    struct sock sock;
    int port;
    co_usec warned; /* when "out of descriptors" was logged last */
};

static void set_on(int fd, int level, int option, int on)
{
    (void)setsockopt(fd, level, option, &on, sizeof(on));
}

static err_t bind_err(const char *ip, int port)
{
    bool low = errno == EACCES && port < IPPORT_RESERVED;
    err_t err = err_sys(ERR_SOCKET_BIND, "bind %s port %d", ip, port);

    return low ? err_wrap(err, "ports below %d want root or CAP_NET_BIND_SERVICE", IPPORT_RESERVED)
               : err;
}

static bool is_mapped(const struct sockaddr_storage *addr)
{
    return IN6_IS_ADDR_V4MAPPED(&((const struct sockaddr_in6 *)addr)->sin6_addr);
}

/* Binds the first of several exclusively, which fails if anything listens there, and only then
 * allows more of our own. */
static err_t bind_and_listen(int fd, const char *ip, int port, int backlog,
                             enum io_listen_share share)
{
    const char *at = *ip ? ip : "::";
    struct sockaddr_storage addr;
    socklen_t size;
    err_t err = sock_addr(&addr, &size, at, port);

    if (err)
        return err;
    set_on(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (addr.ss_family == AF_INET6)
        set_on(fd, IPPROTO_IPV6, IPV6_V6ONLY, *ip && !is_mapped(&addr));
    if (share == IO_LISTEN_MORE)
        set_on(fd, SOL_SOCKET, SO_REUSEPORT, 1);
    if (bind(fd, (struct sockaddr *)&addr, size) < 0)
        return bind_err(at, port);
    if (share == IO_LISTEN_FIRST)
        set_on(fd, SOL_SOCKET, SO_REUSEPORT, 1);
    if (listen(fd, backlog) < 0)
        return err_sys(ERR_SOCKET_LISTEN, "listen on %s port %d", at, port);
    return NULL;
}

static err_t open_family(int *out, const char *ip, int port, int backlog,
                         enum io_listen_share share, int family)
{
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    err_t err;

    if (fd < 0)
        return err_sys(ERR_SOCKET_CREATE, "socket for %s port %d", ip, port);
    err = bind_and_listen(fd, ip, port, backlog, share);
    if (err)
        (void)close(fd);
    else
        *out = fd;
    return err;
}

err_t io_listen_open(int *fd, const char *ip, int port, int backlog, enum io_listen_share share)
{
    struct sockaddr_storage addr;
    socklen_t size;
    err_t err;

    if (!ip || !*ip) {
        err = open_family(fd, "", port, backlog, share, AF_INET6);
        if (err_code(err) == ERR_SOCKET_CREATE || (err && errno == EADDRNOTAVAIL)) {
            err_free(&err); /* a machine without IPv6 */
            err = open_family(fd, "0.0.0.0", port, backlog, share, AF_INET);
        }
        return err;
    }
    err = sock_addr(&addr, &size, ip, port);
    return err ? err : open_family(fd, ip, port, backlog, share, addr.ss_family);
}

err_t io_listener_adopt(struct io_listener **out, int fd)
{
    struct io_listener *l = calloc(1, sizeof(*l));
    struct sockaddr_storage addr = { 0 };
    socklen_t size = sizeof(addr);
    char text[IO_ADDR_SIZE];
    err_t err;

    if (!l)
        return err_new(ERR_NO_MEMORY, "io_listener");
    err = sock_open(&l->sock, fd);
    if (err) {
        free(l);
        return err;
    }
    if (getsockname(fd, (struct sockaddr *)&addr, &size) == 0)
        sock_text(&addr, text, sizeof(text), &l->port);
    *out = l;
    return NULL;
}

err_t io_listen(struct io_listener **out, const char *ip, int port, int backlog)
{
    int fd;
    err_t err = io_listen_open(&fd, ip, port, backlog, IO_LISTEN_ONE);

    if (err)
        return err;
    err = io_listener_adopt(out, fd);
    if (err)
        (void)close(fd);
    return err;
}

/* Checks for temporary errors: the server must not end when descriptors or memory run out, because
 * clients will disconnect. */
static bool is_passing(int e)
{
    return e == EMFILE || e == ENFILE || e == ENOBUFS || e == ENOMEM || e == ECONNABORTED ||
           e == EPROTO || e == EPERM || e == ENETDOWN;
}

err_t io_accept(struct io_listener *l, int *fd, uint8_t peer[IO_ADDR_BYTES])
{
    for (;;) {
        struct sockaddr_storage addr = { 0 };
        socklen_t size = sizeof(addr);
        err_t err = co_check();

        if (err)
            return err;
        *fd = accept4(l->sock.fd, (struct sockaddr *)&addr, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (*fd >= 0) {
            sock_bytes(&addr, peer);
            return NULL;
        }
        if (errno == EINTR)
            continue;
        if (errno == EAGAIN) {
            st_netfd_unready(l->sock.st, POLLIN);
            if (sock_wait(&l->sock, POLLIN, CO_FOREVER) == CO_STOPPED)
                return err_wrap(co_stop_why(), "accept");
            continue;
        }
        if (!is_passing(errno))
            return err_sys(ERR_IO_SYSTEM, "accept");
        if (co_now() - l->warned > CO_SECONDS(1)) {
            l->warned = co_now();
            log_warn("accept on port %d: no more descriptors? see ulimit -n", l->port);
        }
        err = co_sleep(CO_MS(100));
        if (err)
            return err;
    }
}

void io_listener_share(struct io_listener *l)
{
    set_on(l->sock.fd, SOL_SOCKET, SO_REUSEPORT, 1);
}

void io_listener_close(struct io_listener *l)
{
    if (!l)
        return;
    sock_close(&l->sock);
    free(l);
}

int io_listener_port(const struct io_listener *l)
{
    return l->port;
}
