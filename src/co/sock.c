/* SPDX-License-Identifier: MIT */
/* sock.c - one socket and the coroutine that waits for it. */
#include "co/sock.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <st.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GONE = POLLHUP | POLLERR | POLLRDHUP | POLLNVAL }; /* reported to every waiter */

static void on_event(void *arg, int bits)
{
    struct sock *s = arg;

    if (s->waiter && (bits & (s->wanted | GONE)))
        co_unpark(s->waiter);
}

err_t sock_open(struct sock *s, int fd)
{
    *s = (struct sock){ .fd = fd };
    s->st = st_netfd_open_socket(fd);
    if (!s->st)
        return err_sys(ERR_SOCKET_CREATE, "register a descriptor");
    st_netfd_notify(s->st, on_event, s);
    return NULL;
}

void sock_close(struct sock *s)
{
    if (!s->st) {
        (void)close(s->fd);
        return;
    }
    st_netfd_notify(s->st, NULL, NULL);
    (void)st_netfd_close(s->st);
}

void sock_detach(struct sock *s)
{
    assert(!s->waiter);
    st_netfd_notify(s->st, NULL, NULL);
    st_netfd_free(s->st);
    s->st = NULL;
}

bool sock_ready(const struct sock *s, int bits)
{
    return st_netfd_ready(s->st) & (bits | GONE);
}

enum co_wake sock_wait(struct sock *s, int bits, co_usec timeout)
{
    enum co_wake wake;

    assert(!s->waiter);
    if (bits && (st_netfd_ready(s->st) & bits))
        return CO_WOKEN;
    s->waiter = co_self();
    s->wanted = bits;
    st_netfd_near(s->st, s->waiter);
    wake = co_park(timeout);
    s->waiter = NULL;
    return wake;
}

err_t sock_addr(struct sockaddr_storage *out, socklen_t *size, const char *ip, int port)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)out;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
    const char *zone = strchr(ip, '%');
    char host[INET6_ADDRSTRLEN];

    memset(out, 0, sizeof(*out));
    if (port < 0 || port > 65535)
        return err_new(ERR_IO_CONNECT, "%d is no port", port);
    if (inet_pton(AF_INET, ip, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)port);
        *size = sizeof(*v4);
        return NULL;
    }
    (void)snprintf(host, sizeof(host), "%.*s", (int)(zone ? zone - ip : (long)strlen(ip)), ip);
    if (inet_pton(AF_INET6, host, &v6->sin6_addr) != 1)
        return err_new(ERR_IO_CONNECT, "\"%s\" is no ip address", ip);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons((uint16_t)port);
    v6->sin6_scope_id = zone ? if_nametoindex(zone + 1) : 0;
    *size = sizeof(*v6);
    return NULL;
}

void sock_bytes(const struct sockaddr_storage *addr, uint8_t out[16])
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)addr;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)addr;

    memset(out, 0, 16);
    if (addr->ss_family == AF_INET6) {
        memcpy(out, &v6->sin6_addr, 16);
    } else if (addr->ss_family == AF_INET) {
        out[10] = out[11] = 0xff;
        memcpy(out + 12, &v4->sin_addr, 4);
    }
}

void sock_text(const struct sockaddr_storage *addr, char *ip, size_t ip_size, int *port)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)addr;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)addr;

    ip[0] = '\0';
    *port = 0;
    if (addr->ss_family == AF_INET) {
        (void)inet_ntop(AF_INET, &v4->sin_addr, ip, (socklen_t)ip_size);
        *port = ntohs(v4->sin_port);
    } else if (addr->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
        (void)inet_ntop(AF_INET, &v6->sin6_addr.s6_addr[12], ip, (socklen_t)ip_size);
        *port = ntohs(v6->sin6_port);
    } else if (addr->ss_family == AF_INET6) {
        (void)inet_ntop(AF_INET6, &v6->sin6_addr, ip, (socklen_t)ip_size);
        *port = ntohs(v6->sin6_port);
    }
}
