/* SPDX-License-Identifier: MIT */
/* dns.h - names to addresses, without holding up the coroutine thread. */
#ifndef CO_NET_DNS_H
#define CO_NET_DNS_H

#include "base/err.h"
#include "co/co.h"
#include "co/net/io_tcp.h"

enum { CO_DNS_MAX = 8, CO_DNS_NAME_MAX = 253 };

/* The addresses of a name as text, in the order in which to try them. */
struct co_dns {
    int count;
    char ip[CO_DNS_MAX][IO_ADDR_SIZE];
};

/* A numeric address (brackets around IPv6 are fine) is answered at once; a name is asked for on
 * a helper thread. At least one address, or ERR_DNS; ERR_IO_TIMEOUT, ERR_STOPPED, ERR_TOO_MANY.
 * Yields. */
err_t co_dns_resolve(const char *host, co_usec timeout, struct co_dns *out)
    __attribute__((warn_unused_result));

/* Resolve, then connect to the first address that answers. `timeout` is for all of it. Yields. */
err_t co_dns_connect(struct io **out, const char *host, int port, const char *bind_ip,
                     co_usec timeout) __attribute__((warn_unused_result));

#endif
