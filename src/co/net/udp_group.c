/* SPDX-License-Identifier: MIT */
/* udp_group.c - sockets that share an address, each read by a thread of its own: SO_REUSEPORT, with
 * a program that says whose a datagram is. */
#include "co/net/udp.h"

#include <linux/filter.h>
#include <sys/socket.h>
#include <unistd.h>

static err_t share(int fd)
{
    int on = 1;

    if (setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0)
        return err_sys(ERR_SOCKET_BIND, "SO_REUSEPORT");
    return NULL;
}

static int port_of(int fd)
{
    struct sockaddr_in6 addr; /* of IPv4 the port is at the same place */
    socklen_t size = sizeof(addr);

    return getsockname(fd, (struct sockaddr *)&addr, &size) < 0 ? 0 : ntohs(addr.sin6_port);
}

/* The first one is bound alone, which fails where somebody has the address, and lets others of ours
 * in only then. */
static err_t bind_all(int *fds, unsigned n, const char *ip, int port)
{
    err_t err = udp_bind(&fds[0], ip, port, false);

    if (!err)
        err = share(fds[0]);
    for (unsigned i = 1; i < n && !err; i++)
        err = udp_bind(&fds[i], ip, port ? port : port_of(fds[0]), true);
    return err;
}

static err_t close_all(int *fds, unsigned n, err_t err)
{
    for (unsigned i = 0; i < n && err; i++) {
        if (fds[i] >= 0)
            (void)close(fds[i]);
        fds[i] = -1;
    }
    return err;
}

err_t udp_bind_more(int *fds, unsigned n, const char *ip, int port)
{
    err_t err = NULL;

    for (unsigned i = 0; i < n; i++)
        fds[i] = -1;
    for (unsigned i = 0; i < n && !err; i++)
        err = udp_bind(&fds[i], ip, port, true);
    return close_all(fds, n, err);
}

err_t udp_bind_group(int *fds, unsigned n, const char *ip, int port,
                     const struct sock_fprog *choice, bool *chosen)
{
    err_t err;

    for (unsigned i = 0; i < n; i++)
        fds[i] = -1;
    err = close_all(fds, n, bind_all(fds, n, ip, port));
    *chosen = !err && n > 1 && choice &&
              setsockopt(fds[0], SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, choice,
                         sizeof(*choice)) == 0;
    return err;
}
