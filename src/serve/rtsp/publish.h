/* SPDX-License-Identifier: MIT */
/* publish.h - a client that announces a stream and records it.
 *
 * It is a publisher from ANNOUNCE on, when it is let in, and until TEARDOWN or its end. Frames come
 * over its connection, and are read by its coroutine; datagrams are handed in by who receives them.
 */
#ifndef SERVE_RTSP_PUBLISH_H
#define SERVE_RTSP_PUBLISH_H

#include "intake/rtsp.h"
#include "serve/rtsp/session.h"

/* ANNOUNCE: may it publish the stream that is described? ERR_UNSUPPORTED, ERR_MALFORMED and the
 * like: the description; and what session_publisher_begin() says. Yields. */
err_t rtsp_publish_begin(struct rtsp_asked *a) __attribute__((warn_unused_result));
/* It publishes no more; `why` is borrowed. Yields. */
void rtsp_publish_end(struct rtsp_conn *c, err_t why);

/* SETUP of one of its tracks; RECORD. The status to answer; of SETUP 0 and what was agreed on. */
int rtsp_publish_setup(struct rtsp_asked *a, struct rtsp_transport *t);
int rtsp_publish_record(struct rtsp_asked *a);
/* Receive media until TEARDOWN, or the end. Yields. */
err_t rtsp_publish_receive(struct rtsp_conn *c) __attribute__((warn_unused_result));

/* A datagram of that track came, on the port for RTP or the one for RTCP: to a struct rtsp_conn, as
 * rtsp_udp_peer_new() wants it. Does not yield. */
void rtsp_publish_datagram(void *conn, unsigned media, bool is_rtcp, const uint8_t *data,
                           size_t size, co_usec now);

#endif
