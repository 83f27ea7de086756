/* SPDX-License-Identifier: MIT */
/* remote.c - who is at the other end of a connection. */
#include "session/remote.h"

#include "base/log.h"
#include "proto/proxy/proxy.h"

#include <stdio.h>
#include <sys/socket.h>

err_t session_remote_open(struct io **out, int fd)
{
    int on = 1;
    err_t err = io_tcp_open(out, fd);

    if (err)
        return err;
    /* A peer whose machine died says nothing: the kernel asks it now and then. */
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    io_tcp_nodelay(*out, true);
    return NULL;
}

static err_t ask_proxy(struct session_env *env, struct io *io, struct peers_place *place,
                       char ip[IO_ADDR_SIZE], int *port)
{
    struct proxy_peer behind;
    err_t err;

    if (!conf_networks_have_text(&env->conf->trusted_proxies, ip))
        return err_new(ERR_DENIED, "%s is not in trusted_proxies, and this endpoint has "
                       "proxy_protocol", ip);
    err = proxy_read(io, &behind, env->conf->limits.handshake_timeout);
    if (err)
        return err_wrap(err, "PROXY header of %s", ip);
    if (!behind.known)
        return NULL;
    log_debug("proxy %s:%d tells of ip=%s:%d", ip, *port, behind.ip, behind.port);
    (void)snprintf(ip, IO_ADDR_SIZE, "%s", behind.ip);
    *port = behind.port;
    return session_place_take_ip(env, place, ip);
}

err_t session_remote(struct session_env *env, struct io *io, bool proxied,
                     struct peers_place *place,
                     char ip[IO_ADDR_SIZE], int *port)
{
    io_tcp_peer(io, ip, port);
    return proxied && ip[0] ? ask_proxy(env, io, place, ip, port) : NULL;
}
