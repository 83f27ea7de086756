/* SPDX-License-Identifier: MIT */
/* io_tcp.h - struct io over a TCP (or any stream) socket, and how one is got. */
#ifndef CO_NET_IO_TCP_H
#define CO_NET_IO_TCP_H

#include "co/co.h"
#include "co/net/io.h"

enum { IO_ADDR_SIZE = 56 }; /* "ip" of any family with its zone, and the '\0' */

/* Take over the descriptor of a connected socket. Both timeouts start as CO_FOREVER. */
err_t io_tcp_open(struct io **out, int fd);

/* Connect to a numeric address; names are resolved above (co/net/dns.h). Yields. */
err_t io_tcp_connect(struct io **out, const char *ip, int port, const char *bind_ip,
                     co_usec timeout);

void io_tcp_nodelay(struct io *io, bool on); /* of the socket below, whatever is above */
/* Send so many bytes a second at most, and not in bursts: the kernel sees to it. 0: no limit. */
void io_tcp_pace(struct io *io, uint64_t bytes_per_second);
/* Acknowledge what the next reads get at once, not 40 ms later: while a peer that is under Nagle's
 * rule says one thing after the other, it waits for that. A system call each. */
void io_tcp_quick_acks(struct io *io, unsigned reads);
/* A read waits until so many bytes are there, the end has come, or the reader's own time is up:
 * the kernel wakes nobody for less. For merged reads. 1 turns it off. */
void io_tcp_read_low(struct io *io, int bytes);
/* Read what is there, without waiting: *n may be 0. ERR_IO_CLOSED at the end of stream. */
err_t io_tcp_read_now(struct io *io, void *buf, size_t size, size_t *n);
/* As io_read(), but the bytes are thrown away: the kernel copies nothing. All that is there, one
 * call; *n says how many. Yields. */
err_t io_tcp_drop(struct io *io, size_t *n);
size_t io_tcp_pending(const struct io *io); /* bytes that came and were not read; over TLS 0 */
int  io_tcp_fd(const struct io *io); /* of the socket below; -1: there is none */
/* The peer's address ("127.0.0.1", "::1") and port. */
void io_tcp_peer(const struct io *io, char ip[IO_ADDR_SIZE], int *port);
/* And ours, as the peer sees it, of the socket below; "": there is none. */
void io_tcp_local(const struct io *io, char ip[IO_ADDR_SIZE], int *port);

struct io_listener; /* owned by who opened it */

/* Listen on ip ("" or NULL: any, v6 and v4; "::": any of v6 alone) and port. `backlog` as in
 * listen(2). */
err_t io_listen(struct io_listener **out, const char *ip, int port, int backlog);
/* The two halves of it. The descriptor of a socket that listens, for any thread to adopt: the only
 * one of its address, or the first of several between which the kernel shares out who connects. The
 * first is refused where anybody listens, one more where somebody listens who is not of ours. */
enum io_listen_share { IO_LISTEN_ONE, IO_LISTEN_FIRST, IO_LISTEN_MORE };
err_t io_listen_open(int *fd, const char *ip, int port, int backlog, enum io_listen_share share);
/* Take the descriptor over, on the thread that is going to accept. On error it is the caller's. */
err_t io_listener_adopt(struct io_listener **out, int fd);
/* The next connection as a bare descriptor, non-blocking and close-on-exec, and the address of its
 * peer, IPv4 mapped (zeros: it has none). When the process is out of descriptors it waits and tries
 * again, with one warning a second. Yields. */
enum { IO_ADDR_BYTES = 16 };
err_t io_accept(struct io_listener *l, int *fd, uint8_t peer[IO_ADDR_BYTES]);
/* From now on IO_LISTEN_MORE is let in where it overlaps with this one. */
void  io_listener_share(struct io_listener *l);
void  io_listener_close(struct io_listener *l); /* may be NULL */
int   io_listener_port(const struct io_listener *l);

#endif
