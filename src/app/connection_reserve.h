/* SPDX-License-Identifier: MIT */
/* connection_reserve.h - reserves connections for the operator.
 *
 * When max_connections is reached or descriptors run short, `limits { api_reserve }` connections
 * remain for the API and metrics, so that the operator gets in even if untrusted clients hold all
 * others. A quarter of them is reserved for this machine, since untrusted clients may use the
 * API's port, too.
 */
#ifndef APP_CONNECTION_RESERVE_H
#define APP_CONNECTION_RESERVE_H

#include "conf/conf.h"

#include <stdbool.h>
#include <stdint.h>

enum connection_reserve {
    CONNECTION_RESERVE_NONE,
    CONNECTION_RESERVE_RESERVED, /* for one API response, closed soon */
    CONNECTION_RESERVE_FREE,
};

struct server_use {
    int taken;  /* open connections */
    int fd;     /* the new descriptor: it was the lowest free one, so this many are in use */
    long files; /* limit of descriptors of the process; 0: unknown */
    bool api;   /* it arrived at an endpoint of the API or of metrics */
    bool local; /* the peer is on this machine */
};

enum connection_reserve connection_reserve_find(const struct conf *c, const struct server_use *use);
/* Returns true for a loopback address; IPv4 addresses are mapped. */
bool connection_reserve_is_local(const uint8_t addr[16]);

#endif
