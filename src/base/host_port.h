/* SPDX-License-Identifier: MIT */
/* host_port.h - "host", "host:port", "[v6]", "[v6]:port" or a bare v6 address, taken apart. */
#ifndef BASE_HOST_PORT_H
#define BASE_HOST_PORT_H

#include <stdbool.h>
#include <stddef.h>

struct host_port {
    const char *host, *port; /* parts of the text, the host without brackets; port NULL: none */
    size_t host_n, port_n;
    bool bad;                /* a '[' without its ']', or something else than a port behind that */
};

struct host_port host_port_split(const char *text, size_t size);
/* 1 to 65535; 0: it is no such number, or there is none. */
int host_port_number(const struct host_port *p);

#endif
