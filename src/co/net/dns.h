/* SPDX-License-Identifier: MIT */
/* dns.h - resolves names to addresses without blocking the coroutine thread. */
#ifndef CO_NET_DNS_H
#define CO_NET_DNS_H

#include "base/err.h"
#include "co/co.h"
#include "co/net/io_tcp.h"

enum { CO_DNS_MAX = 8, CO_DNS_NAME_MAX = 253 };

/* Addresses of a name as text, in the order in which to try them. */
struct co_dns {
    int count;
    char ip[CO_DNS_MAX][IO_ADDR_SIZE];
};

/* Resolves a name on a helper thread; returns a numeric address (also in brackets, as for IPv6) at
 * once. Returns at least one address, or ERR_DNS, ERR_IO_TIMEOUT, ERR_STOPPED or ERR_TOO_MANY.
 * Yields. */
err_t co_dns_resolve(const char *host, co_usec timeout, struct co_dns *out)
    __attribute__((warn_unused_result));

/* Resolves the name, then connects to the first address that answers. `timeout` covers both.
 * Yields. */
err_t co_dns_connect(struct io **out, const char *host, int port, const char *bind_ip,
                     co_usec timeout) __attribute__((warn_unused_result));

#endif
