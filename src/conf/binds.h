/* SPDX-License-Identifier: MIT */
/* binds.h - the sockets that `listen` directives ask for, where a port may be listed for IPv4 and
 * for IPv6. */
#ifndef CONF_BINDS_H
#define CONF_BINDS_H

#include "conf/settings.h"

enum { CONF_BIND_TEXT = 80, CONF_BINDS_EACH = 2 };

struct conf_bind {
    const char *host; /* "": any address of IPv6 and IPv4; "::": of IPv6 alone. The endpoint's */
    int port;
    char text[CONF_BIND_TEXT]; /* for the log: the endpoint as written, or the half that it is */
};

/* Which kinds of addresses the lists have at that port: bits for conf_binds(). */
unsigned conf_binds_at(const struct conf_endpoints *list, int port);
/* What the endpoint binds where its port has those kinds; gives how many. A bare port and [::] take
 * both families when they are alone. Where the port is listed for IPv4 and for IPv6, [::] takes
 * IPv6 alone, and a bare port takes what the others leave: IPv4, or both by a socket for each. */
size_t conf_binds(const struct conf_endpoint *e, unsigned at_port,
                  struct conf_bind out[CONF_BINDS_EACH]);
/* Any address of that port, by a socket for each family: IPv4, then IPv6. */
void conf_bind_halves(int port, struct conf_bind out[CONF_BINDS_EACH]);
bool conf_bind_same(const struct conf_bind *a, const struct conf_bind *b);

#endif
