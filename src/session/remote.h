/* SPDX-License-Identifier: MIT */
/* remote.h - who is at the other end of a connection: the socket says, or a proxy that we trust. */
#ifndef SESSION_REMOTE_H
#define SESSION_REMOTE_H

#include "co/net/io_tcp.h"
#include "session/place.h"

/* The pipe of a connection that was accepted; what is written goes out at once. On error the
 * descriptor is still the caller's. */
err_t session_remote_open(struct io **out, int fd) __attribute__((warn_unused_result));

/* `proxied`: the connection begins with a header of the PROXY protocol, and who is no trusted proxy
 * is refused. Address and port are then those that the header names, whose place the connection
 * takes. *ip is "" when the socket does not know any more. ERR_DENIED, ERR_PROXY, ERR_TOO_MANY,
 * ERR_IO_TIMEOUT, and the pipe's; ip and port are set all the same. Yields if proxied. */
err_t session_remote(struct session_env *env, struct io *io, bool proxied,
                     struct peers_place *place,
                     char ip[IO_ADDR_SIZE], int *port) __attribute__((warn_unused_result));

#endif
