/* SPDX-License-Identifier: MIT */
/* binds.h - sockets for `listen` directives. A port may be listed for IPv4 and IPv6. */
#ifndef CONF_BINDS_H
#define CONF_BINDS_H

#include "conf/settings.h"

enum { CONF_BIND_TEXT = 80, CONF_BINDS_EACH = 2 };

struct conf_bind {
    const char *host; /* "": all addresses; "::": all of IPv6. Points into the endpoint */
    int port;
    char text[CONF_BIND_TEXT]; /* for the log: the endpoint as written, or one half of it */
};

/* Returns the kinds of addresses that the list has for this port, as bits for conf_binds(). */
unsigned conf_binds_at(const struct conf_endpoints *list, int port);
/* Writes the sockets of an endpoint to out and returns their number. at_port: see conf_binds_at().
 * A bare port or [::] serves both families if it is the only entry for its port. If the port is
 * listed for IPv4 and IPv6, [::] serves IPv6 only, and a bare port serves the rest: IPv4, or both
 * families with one socket each. */
size_t conf_binds(const struct conf_endpoint *e, unsigned at_port,
                  struct conf_bind out[CONF_BINDS_EACH]);
/* Splits a bare port into two sockets: all IPv4 addresses, then all IPv6 addresses. */
void conf_bind_halves(int port, struct conf_bind out[CONF_BINDS_EACH]);
bool conf_bind_same(const struct conf_bind *a, const struct conf_bind *b);

#endif
