/* SPDX-License-Identifier: MIT */
/* connection_reserve.h - who gets a connection when few are left.
 *
 * Beyond max_connections, and where descriptors run short, `limits { api_reserve }` connections are
 * kept for the API and figures, so that the operator gets in when strangers took all others. A
 * quarter of them is kept for this machine: strangers may know the port of the API, too.
 */
#ifndef APP_CONNECTION_RESERVE_H
#define APP_CONNECTION_RESERVE_H

#include "conf/conf.h"

#include <stdbool.h>
#include <stdint.h>

enum connection_reserve {
    CONNECTION_RESERVE_NONE,
    CONNECTION_RESERVE_RESERVED, /* for the API, one answer and not long */
    CONNECTION_RESERVE_FREE,
};

struct server_use {
    int taken;  /* connections there are */
    int fd;     /* of the new one: the lowest that was free, so this many are in use */
    long files; /* that the process may have; 0: nobody knows */
    bool api;   /* it came to an endpoint of the API or of figures */
    bool local; /* the peer is this machine */
};

enum connection_reserve connection_reserve_find(const struct conf *c, const struct server_use *use);
/* Is that address, IPv4 mapped, one of this machine for itself? */
bool connection_reserve_is_local(const uint8_t addr[16]);

#endif
