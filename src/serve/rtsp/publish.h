/* SPDX-License-Identifier: MIT */
/* publish.h - an RTSP client that announces a stream and records it.
 *
 * It is a publisher from ANNOUNCE, which authorizes it, until TEARDOWN or the end of its
 * connection. Frames on the connection are read by its coroutine; datagrams are passed in by the
 * reader of the UDP ports.
 */
#ifndef SERVE_RTSP_PUBLISH_H
#define SERVE_RTSP_PUBLISH_H

#include "intake/rtsp.h"
#include "serve/rtsp/session.h"

/* Handles ANNOUNCE: authorizes the publisher of the described stream. ERR_UNSUPPORTED,
 * ERR_MALFORMED and so on for the description, and the errors of session_publisher_begin().
 * Yields. */
err_t rtsp_publish_begin(struct rtsp_exchange *x) __attribute__((warn_unused_result));
/* Ends publishing; `why` is borrowed. Yields. */
void rtsp_publish_end(struct rtsp_conn *c, err_t why);

/* Handle SETUP of one of its tracks, and RECORD. Return the status of the response; SETUP returns 0
 * and the agreed transport. */
int rtsp_publish_setup(struct rtsp_exchange *x, struct rtsp_transport *t);
int rtsp_publish_record(struct rtsp_exchange *x);
/* Receives media until TEARDOWN or the end. Yields. */
err_t rtsp_publish_receive(struct rtsp_conn *c) __attribute__((warn_unused_result));

/* Handles a datagram of that track, from the RTP or the RTCP port. `conn` is a struct rtsp_conn; an
 * rtsp_udp_input for rtsp_udp_peer_new(). Does not yield. */
void rtsp_publish_datagram(void *conn, unsigned media, bool is_rtcp, const uint8_t *data,
                           size_t size, co_usec now);

#endif
