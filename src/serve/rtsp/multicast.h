/* SPDX-License-Identifier: MIT */
/* multicast.h - a stream sent once to all who asked for multicast: RFC 2326 12.39, RFC 1112.
 *
 * A sender for each stream, worker and address of ours that its clients came to: the datagrams
 * leave by the interface that has it. It is made by the first client who sets it up, sends while at
 * least one of them plays, and goes with the last one. It sends both tracks, the n-th to the n-th
 * pair of ports; who wants one of them listens to that one alone.
 *
 * All of this is of one worker's thread, and of IPv4.
 */
#ifndef SERVE_RTSP_MULTICAST_H
#define SERVE_RTSP_MULTICAST_H

#include "co/net/udp.h"
#include "proto/rtsp/transport.h"
#include "session/session.h"
#include "wire/rtp.h"

/* Senders of a worker: each sends its stream at full rate to all of a network, asked for by who
 * may be gone already. 64 of 4 Mbit/s are a quarter of what a gigabit carries. */
enum { RTSP_MULTICAST_MAX = 64 };

struct rtsp_multicast;

/* The group that a stream of a worker has by its name; if that is taken the next one, by `attempt`.
 * The workers have different ones. False: there are no more. Without port. */
bool rtsp_multicast_group(struct udp_addr *out, const struct conf_network *range,
                          const char *stream, unsigned worker, unsigned workers, unsigned attempt)
    __attribute__((warn_unused_result));

/* That of its stream, for a client that came to `local`. rtsp_multicast_leave() gives it back.
 * ERR_TOO_MANY: there are no more senders, or groups. Does not yield. */
err_t rtsp_multicast_join(struct rtsp_multicast **out, const struct session *s, const char *local)
    __attribute__((warn_unused_result));
void rtsp_multicast_leave(struct rtsp_multicast *m); /* NULL is fine; after its play ended */
/* Where a track goes, as it is answered. */
void rtsp_multicast_put(const struct rtsp_multicast *m, unsigned track, struct rtsp_transport *t);

/* One more plays. `start` says where the media begin, and nothing if they flow already. */
err_t rtsp_multicast_play(struct rtsp_multicast *m, struct rtp_wire_start start[RTP_WIRE_N])
    __attribute__((warn_unused_result));
void rtsp_multicast_pause(struct rtsp_multicast *m); /* one of them does no more */
const struct live_sender *rtsp_multicast_sender(const struct rtsp_multicast *m); /* to show it */
bool rtsp_multicast_failed(const struct rtsp_multicast *m); /* nothing is sent any more */

#endif
