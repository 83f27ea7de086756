/* SPDX-License-Identifier: MIT */
/* multicast.h - one sender for all players of a stream that use multicast: RFC 2326 12.39, RFC
 * 1112.
 *
 * There is one sender per stream, worker and local address of the clients' connections: the
 * datagrams leave by the interface with that address. The first client that sets it up creates it,
 * it sends while at least one client plays, and it ends with the last client. It sends both tracks,
 * track n to the n-th pair of ports; a client that wants one track listens only to that pair.
 *
 * A sender belongs to one worker's thread. IPv4 only.
 */
#ifndef SERVE_RTSP_MULTICAST_H
#define SERVE_RTSP_MULTICAST_H

#include "co/net/udp.h"
#include "proto/rtsp/transport.h"
#include "session/session.h"
#include "wire/rtp.h"

/* Senders per worker. Each one sends its stream at full rate to a whole network, perhaps for
 * clients that no longer exist: 64 senders of 4 Mbit/s are a quarter of a gigabit. */
enum { RTSP_MULTICAST_MAX = 64 };

struct rtsp_multicast;

/* Computes the multicast group of a stream on a worker from its name; attempt n gives the n-th
 * alternative if groups are taken. Workers use disjoint groups. Returns false if there are no more.
 * The port is not set. */
bool rtsp_multicast_group(struct udp_addr *out, const struct conf_network *range,
                          const char *stream, unsigned worker, unsigned workers, unsigned attempt)
    __attribute__((warn_unused_result));

/* Joins the sender of its stream for a client with the local address `local`. Give it back with
 * rtsp_multicast_leave(). ERR_TOO_MANY: no senders or groups are left. Does not yield. */
err_t rtsp_multicast_join(struct rtsp_multicast **out, const struct session *s, const char *local)
    __attribute__((warn_unused_result));
void rtsp_multicast_leave(struct rtsp_multicast *m); /* after its play ended; NULL is allowed */
/* Writes the destination of a track into the transport of the response. */
void rtsp_multicast_put(const struct rtsp_multicast *m, unsigned track, struct rtsp_transport *t);

/* Adds a player. Sets `start` to where the media start, or to zeros if they are sent already. */
err_t rtsp_multicast_play(struct rtsp_multicast *m, struct rtp_wire_start start[RTP_WIRE_N])
    __attribute__((warn_unused_result));
void rtsp_multicast_pause(struct rtsp_multicast *m); /* removes a player */
/* for the list of clients */
const struct live_sender *rtsp_multicast_sender(const struct rtsp_multicast *m);
bool rtsp_multicast_failed(const struct rtsp_multicast *m); /* true if the sender has stopped
                                                             * after an error */

#endif
