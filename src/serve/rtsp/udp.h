/* SPDX-License-Identifier: MIT */
/* udp.h - media of RTSP as datagrams: one pair of ports of a worker for all of its sessions.
 *
 * The pair is opened by the first who needs it, on rtsp_server.udp_port and the next one, of
 * worker n on two times n above that. A reader for each of both hands what comes to the peer that
 * has the address from which it comes; what is nobody's is dropped and counted. So a session costs
 * no descriptor and no coroutine, and the kernel is given many packets at once.
 *
 * A peer is sent to at the address of its connection only. Its port may be another one than it
 * said, since a router on the way gave it another: what comes from its address and is nobody's
 * moves the one port there that is waited for, once.
 *
 * All of this is of one worker's thread.
 */
#ifndef SERVE_RTSP_UDP_H
#define SERVE_RTSP_UDP_H

#include "co/net/io.h"
#include "co/net/udp.h"
#include "proto/rtsp/transport.h"
#include "session/env.h"

struct rtsp_udp;      /* a pair of ports, shared: the service of RTSP of its worker */
struct rtsp_udp_peer; /* one session's side; owned by it */

/* ---- pairs of ports */

/* That of the worker. ERR_SOCKET_BIND: there is none, and the log was told. Does not yield. */
err_t rtsp_udp_of(struct rtsp_udp **out, struct session_env *env)
    __attribute__((warn_unused_result));
/* One for the caller alone, for a track of a session of which we are the client: of any ports that
 * are free. rtsp_udp_close() ends it with its last peer. */
err_t rtsp_udp_private(struct rtsp_udp **out, struct session_env *env)
    __attribute__((warn_unused_result));
/* No new peers: it goes with the last one. NULL is fine. */
void rtsp_udp_close(struct rtsp_udp *u);
struct rtsp_pair rtsp_udp_ports(const struct rtsp_udp *u);

struct rtsp_udp_stat {
    uint64_t unknown; /* came from nobody that we know */
    uint64_t holes;   /* packets that are no RTP: routers are to let our answers through */
    uint64_t moved;   /* ports that turned out to be others */
    size_t ports;     /* of peers */
    struct udp_stat side[2]; /* RTP, RTCP */
};
void rtsp_udp_stat(const struct rtsp_udp *u, struct rtsp_udp_stat *out);

/* ---- peers */

/* Gets what comes from a peer; must not yield, and must not close the peer. */
typedef void rtsp_udp_input(void *arg, unsigned track, bool rtcp, const uint8_t *data, size_t size,
                            co_usec now);

/* `input` NULL: what comes is dropped. It sends to a numeric ip. `local`: the address of ours that
 * the peer sends to, "": any. */
err_t rtsp_udp_peer_new(struct rtsp_udp_peer **out, struct rtsp_udp *u, const char *ip,
                        const char *local, rtsp_udp_input *input, void *arg)
    __attribute__((warn_unused_result));
void rtsp_udp_peer_free(struct rtsp_udp_peer *p); /* NULL is fine */
/* A track, or another place for one that it has. ERR_TOO_MANY: a port is another peer's. */
err_t rtsp_udp_add(struct rtsp_udp_peer *p, unsigned track, struct rtsp_pair ports)
    __attribute__((warn_unused_result));
void rtsp_udp_remove(struct rtsp_udp_peer *p, unsigned track);
struct rtsp_pair rtsp_udp_peer_ports(const struct rtsp_udp_peer *p); /* of ours */
/* One datagram; lost if the socket is full. */
void rtsp_udp_send(struct rtsp_udp_peer *p, unsigned track, bool rtcp, const void *data,
                   size_t size);

/* From now on it has to give signs of life: RTCP, and those that others note in *heard. After so
 * long without, the coroutine that calls is stopped by ERR_IO_TIMEOUT. */
void rtsp_udp_watch(struct rtsp_udp_peer *p, co_usec *heard, co_usec patience);
void rtsp_udp_unwatch(struct rtsp_udp_peer *p);

/* What a sender of the wire writes to: the ranges it gets are interleaved packets, of which each
 * goes as a datagram to its track; a write ends behind a packet. All else is that of the
 * connection, `control`; NULL: there is none. It is the peer's and goes with it. */
struct io *rtsp_udp_io(struct rtsp_udp_peer *p, struct io *control);
/* The client has closed its connection: from now on its reports alone are signs of life, and it has
 * less patience. False: it has never sent any, so it is gone. */
bool rtsp_udp_alone(struct rtsp_udp_peer *p) __attribute__((warn_unused_result));

#endif
