/* SPDX-License-Identifier: MIT */
/* io_tcp.h - struct io over a TCP (or any stream) socket; connecting and listening. */
#ifndef CO_NET_IO_TCP_H
#define CO_NET_IO_TCP_H

#include "co/co.h"
#include "co/net/io.h"

enum { IO_ADDR_SIZE = 56 }; /* "ip" of any family with its zone, and the '\0' */

/* Takes over the descriptor of a connected socket. Both timeouts start as CO_FOREVER. */
err_t io_tcp_open(struct io **out, int fd);

/* Connects to a numeric address; co/net/dns.h resolves names. Yields. */
err_t io_tcp_connect(struct io **out, const char *ip, int port, const char *bind_ip,
                     co_usec timeout);

void io_tcp_nodelay(struct io *io, bool on); /* the socket below, through all layers */
/* Limits the send rate to n bytes per second, without bursts; the kernel enforces it. 0: no
 * limit. */
void io_tcp_pace(struct io *io, uint64_t bytes_per_second);
/* Acknowledges the data of the next `reads` reads at once instead of 40 ms later: a peer under
 * Nagle's algorithm that sends several small messages waits for that. Costs one system call per
 * read. */
void io_tcp_quick_acks(struct io *io, unsigned reads);
/* Makes a read wait until n bytes are available, the stream has ended, or the reader's own timeout
 * has passed; the kernel does not wake the reader for less. Used for merged reads. 1 turns it
 * off. */
void io_tcp_read_low(struct io *io, int bytes);
/* Reads the available bytes without waiting: *n may be 0. ERR_IO_CLOSED at the end of stream. */
err_t io_tcp_read_now(struct io *io, void *buf, size_t size, size_t *n);
/* Same as io_read(), but discards the bytes: the kernel copies nothing. Discards all that is
 * available in one call; *n is the number of bytes. Yields. */
err_t io_tcp_drop(struct io *io, size_t *n);
size_t io_tcp_pending(const struct io *io); /* bytes received and not read yet; 0 over TLS */
int  io_tcp_fd(const struct io *io); /* the socket below; -1: there is none */
/* The peer's address ("127.0.0.1", "::1") and port. */
void io_tcp_peer(const struct io *io, char ip[IO_ADDR_SIZE], int *port);
/* Our address as the peer sees it, of the socket below; "": there is none. */
void io_tcp_local(const struct io *io, char ip[IO_ADDR_SIZE], int *port);

struct io_listener; /* owned by the caller that opened it */

/* Listens on ip ("" or NULL: any, IPv6 and IPv4; "::": any, IPv6 only) and port. `backlog` as in
 * listen(2). */
err_t io_listen(struct io_listener **out, const char *ip, int port, int backlog);
/* The two steps of io_listen(). This one returns the descriptor of a listening socket, for any
 * thread to adopt: the only socket of its address (ONE), or one of several among which the kernel
 * distributes connections. The first fails if anything listens there, an additional one (MORE) if a
 * foreign socket listens there. */
enum io_listen_share { IO_LISTEN_ONE, IO_LISTEN_FIRST, IO_LISTEN_MORE };
err_t io_listen_open(int *fd, const char *ip, int port, int backlog, enum io_listen_share share);
/* Takes over the descriptor, on the thread that will accept. On error the caller still owns it. */
err_t io_listener_adopt(struct io_listener **out, int fd);
/* Returns the next connection as a bare descriptor, non-blocking and close-on-exec, and the peer's
 * address, IPv4 mapped (zeros: it has none). When the process has no free descriptors it waits and
 * retries, with one warning per second. Yields. */
enum { IO_ADDR_BYTES = 16 };
err_t io_accept(struct io_listener *l, int *fd, uint8_t peer[IO_ADDR_BYTES]);
/* Admits IO_LISTEN_MORE sockets to this address from now on. */
void  io_listener_share(struct io_listener *l);
void  io_listener_close(struct io_listener *l); /* may be NULL */
int   io_listener_port(const struct io_listener *l);

#endif
