/* SPDX-License-Identifier: MIT */
/* remote.c - who is at the other end of a connection. */
#include "serve/remote.h"

#include "base/log.h"
#include "proto/proxy/proxy.h"

#include <stdio.h>

static err_t ask_proxy(struct serve *serve, struct io *io, struct peers_place *place,
                       char ip[IO_ADDR_SIZE], int *port)
{
    struct proxy_peer behind;
    err_t err;

    if (!conf_networks_have_text(&serve->conf->trusted_proxies, ip))
        return err_new(ERR_DENIED, "%s is not in trusted_proxies, and this endpoint has "
                       "proxy_protocol", ip);
    err = proxy_read(io, &behind, serve->conf->limits.handshake_timeout);
    if (err)
        return err_wrap(err, "PROXY header of %s", ip);
    if (!behind.known)
        return NULL;
    log_debug("proxy %s:%d tells of ip=%s:%d", ip, *port, behind.ip, behind.port);
    (void)snprintf(ip, IO_ADDR_SIZE, "%s", behind.ip);
    *port = behind.port;
    return serve_place_take_ip(serve, place, ip);
}

err_t serve_remote(struct serve *serve, struct io *io, bool proxied, struct peers_place *place,
                   char ip[IO_ADDR_SIZE], int *port)
{
    io_tcp_peer(io, ip, port);
    return proxied && ip[0] ? ask_proxy(serve, io, place, ip, port) : NULL;
}
