/* SPDX-License-Identifier: MIT */
/* sock.h - one socket and who waits for it; for co/ alone. */
#ifndef CO_SOCK_H
#define CO_SOCK_H

#include "base/err.h"
#include "co/co.h"

#include <stdbool.h>
#include <sys/socket.h>

struct sock {
    int fd;
    void *st;          /* st_netfd_t; NULL: of no scheduler, see sock_detach() */
    struct co *waiter; /* at most one coroutine waits at a time */
    int wanted;        /* poll bits that it waits for */
};

/* Take over fd, which must be non-blocking or becomes so. On error fd is still the caller's. */
err_t sock_open(struct sock *s, int fd);
void  sock_close(struct sock *s);
/* It leaves the scheduler, open: sock_open() has that of another thread take it over. What comes
 * meanwhile is told there. It may also be closed, on any thread. */
void  sock_detach(struct sock *s);
/* Were any of these poll bits seen since they were last found false? */
bool  sock_ready(const struct sock *s, int bits);
/* Park until one of the bits comes. Yields. */
enum co_wake sock_wait(struct sock *s, int bits, co_usec timeout);

err_t sock_addr(struct sockaddr_storage *out, socklen_t *size, const char *ip, int port);
/* As 16 bytes, IPv4 mapped; zeros when it is neither. */
void  sock_bytes(const struct sockaddr_storage *addr, uint8_t out[16]);
void  sock_text(const struct sockaddr_storage *addr, char *ip, size_t ip_size, int *port);

#endif
