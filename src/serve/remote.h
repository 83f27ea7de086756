/* SPDX-License-Identifier: MIT */
/* remote.h - who is at the other end of a connection: the socket says, or a proxy that we trust. */
#ifndef SERVE_REMOTE_H
#define SERVE_REMOTE_H

#include "co/io_tcp.h"
#include "serve/place.h"

/* `proxied`: the connection begins with a header of the PROXY protocol, and who is no trusted proxy
 * is refused. Address and port are then those that the header names, whose place the connection
 * takes. *ip is "" when the socket does not know any more. ERR_DENIED, ERR_PROXY, ERR_TOO_MANY,
 * ERR_IO_TIMEOUT, and the pipe's; ip and port are set all the same. Yields if proxied. */
err_t serve_remote(struct serve *serve, struct io *io, bool proxied, struct peers_place *place,
                   char ip[IO_ADDR_SIZE], int *port) __attribute__((warn_unused_result));

#endif
