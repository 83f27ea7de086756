/* SPDX-License-Identifier: MIT */
/* sock.h - one socket and the coroutine that waits for it; private to co/. */
#ifndef CO_SOCK_H
#define CO_SOCK_H

#include "base/err.h"
#include "co/co.h"

#include <stdbool.h>
#include <sys/socket.h>

struct sock {
    int fd;
    void *st;          /* st_netfd_t; NULL: detached from all schedulers, see sock_detach() */
    struct co *waiter; /* at most one coroutine waits at a time */
    int wanted;        /* poll bits that the waiter waits for */
};

/* Takes over fd and makes it non-blocking. On error the caller still owns fd. */
err_t sock_open(struct sock *s, int fd);
void  sock_close(struct sock *s);
/* Removes the socket from the scheduler and leaves it open, for sock_open() on another thread.
 * Events in between are reported there. It may also be closed, on any thread. */
void  sock_detach(struct sock *s);
/* Checks whether any of these poll bits was reported and not found false since. */
bool  sock_ready(const struct sock *s, int bits);
/* Parks until one of the bits is reported. Yields. */
enum co_wake sock_wait(struct sock *s, int bits, co_usec timeout);

err_t sock_addr(struct sockaddr_storage *out, socklen_t *size, const char *ip, int port);
/* Converts the address to 16 bytes, IPv4 mapped; zeros for other families. */
void  sock_bytes(const struct sockaddr_storage *addr, uint8_t out[16]);
void  sock_text(const struct sockaddr_storage *addr, char *ip, size_t ip_size, int *port);

#endif
