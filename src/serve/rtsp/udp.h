/* SPDX-License-Identifier: MIT */
/* udp.h - media of RTSP as datagrams: one pair of ports per worker for all of its sessions.
 *
 * The first session that needs the pair opens it, on rtsp_server.udp_port and the next port, plus
 * twice the worker's number. One reader per port passes each datagram to the peer with its source
 * address; datagrams from unknown addresses are dropped and counted. So a session needs no
 * descriptor and no coroutine, and the kernel gets many packets in one call.
 *
 * Datagrams are sent only to the address of the peer's connection. Its port may differ from the one
 * it announced, since a router can change it: the first datagram from its address and an unknown
 * port sets the port, once, if exactly one port of that address is still unconfirmed.
 *
 * Everything here belongs to one worker's thread.
 */
#ifndef SERVE_RTSP_UDP_H
#define SERVE_RTSP_UDP_H

#include "co/net/io.h"
#include "co/net/udp.h"
#include "proto/rtsp/transport.h"
#include "session/env.h"

struct rtsp_udp;      /* a shared pair of ports: the service of RTSP on its worker */
struct rtsp_udp_peer; /* one session's side, owned by the session */

/* ---- pairs of ports */

/* Returns the pair of the worker. ERR_SOCKET_BIND: the ports cannot be opened; logged. Does not
 * yield. */
err_t rtsp_udp_of(struct rtsp_udp **out, struct session_env *env)
    __attribute__((warn_unused_result));
/* Opens a private pair on any free ports, for a track of a session in which we are the client.
 * rtsp_udp_close() closes it with its last peer. */
err_t rtsp_udp_private(struct rtsp_udp **out, struct session_env *env)
    __attribute__((warn_unused_result));
/* Accepts no more peers and closes with the last one. NULL is allowed. */
void rtsp_udp_close(struct rtsp_udp *u);
struct rtsp_pair rtsp_udp_ports(const struct rtsp_udp *u);

struct rtsp_udp_stat {
    uint64_t unknown; /* datagrams from unknown addresses */
    uint64_t holes;   /* packets that are not RTP, sent to open a path through routers */
    uint64_t moved;   /* ports that differed from the announced ones */
    size_t ports;     /* number of ports of peers */
    struct udp_stat side[2]; /* RTP, RTCP */
};
void rtsp_udp_stat(const struct rtsp_udp *u, struct rtsp_udp_stat *out);

/* ---- peers */

/* Receives the datagrams of a peer. Must not yield, and must not close the peer. */
typedef void rtsp_udp_input(void *arg, unsigned track, bool rtcp, const uint8_t *data, size_t size,
                            co_usec now);

/* Creates a peer that sends to a numeric ip. With `input` NULL its datagrams are dropped. `local`:
 * our address that the peer sends to, "": any. */
err_t rtsp_udp_peer_new(struct rtsp_udp_peer **out, struct rtsp_udp *u, const char *ip,
                        const char *local, rtsp_udp_input *input, void *arg)
    __attribute__((warn_unused_result));
void rtsp_udp_peer_free(struct rtsp_udp_peer *p); /* NULL is allowed */
/* Adds a track, or changes the ports of one. ERR_TOO_MANY: another peer has one of the ports. */
err_t rtsp_udp_add(struct rtsp_udp_peer *p, unsigned track, struct rtsp_pair ports)
    __attribute__((warn_unused_result));
void rtsp_udp_remove(struct rtsp_udp_peer *p, unsigned track);
struct rtsp_pair rtsp_udp_peer_ports(const struct rtsp_udp_peer *p); /* our ports */
/* Sends one datagram; it is lost if the socket is full. */
void rtsp_udp_send(struct rtsp_udp_peer *p, unsigned track, bool rtcp, const void *data,
                   size_t size);

/* Starts the keepalive timeout: RTCP counts, and others may update *heard. After `timeout` without
 * either, the calling coroutine is stopped with ERR_IO_TIMEOUT. */
void rtsp_udp_watch(struct rtsp_udp_peer *p, co_usec *last_seen, co_usec timeout);
void rtsp_udp_unwatch(struct rtsp_udp_peer *p);

/* Returns the io for a sender of the wire: it gets ranges of interleaved packets and sends each one
 * as a datagram to its track; a write ends behind a packet. Reads use the connection, `control`;
 * NULL: none. Owned by the peer. */
struct io *rtsp_udp_io(struct rtsp_udp_peer *p, struct io *control);
/* The client has closed its connection: from now on only its reports keep it alive, with a shorter
 * timeout. Returns false if it has never sent reports, so it is gone. */
bool rtsp_udp_detach(struct rtsp_udp_peer *p) __attribute__((warn_unused_result));

#endif
