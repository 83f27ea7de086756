/* SPDX-License-Identifier: MIT */
/* stream.h - the WebRTC players of a source on this worker, and the packets that they are sent.
 *
 * When a frame came one walk serves them all: packets are there once (wire/rtc), each player gets
 * them under its own header and key, from one scratch buffer by one system call of equal segments.
 * It goes in slices, so a thousand players hold nobody up; and it has half of the thread where
 * others have much to do as well, such as handshakes of many who come at once.
 */
#ifndef SERVE_RTC_STREAM_H
#define SERVE_RTC_STREAM_H

#include "serve/datagram/streams.h"
#include "serve/rtc/peer.h"
#include "wire/rtc.h"

/* That of the source, made if there is none; with a reference for the caller. */
struct rtc_stream *rtc_stream_get(struct rtc_service *s, struct live_source *src);
void rtc_stream_put(struct rtc_stream *st); /* the reference back; NULL is fine */
struct rtc_wire *rtc_stream_wire(struct rtc_stream *st);
/* Its WebRTC publisher, whom players ask for key frames; NULL: it is none of WebRTC. */
void rtc_stream_publisher(struct rtc_stream *st, struct rtc_peer *p);
struct rtc_peer *rtc_stream_of(const struct rtc_stream *st);
/* A packet was relayed: players are to have it at once. */
void rtc_stream_wake(struct rtc_stream *st);
/* That player has more to be sent than goes at once: it gets it a bit at a time, without a walk. */
void rtc_stream_late(struct rtc_peer *p);
/* None of them yields. */
void rtc_stream_add(struct rtc_stream *st, struct rtc_peer *p);
void rtc_stream_remove(struct rtc_stream *st, struct rtc_peer *p); /* fine if it was not added */
bool rtc_stream_has(const struct rtc_peer *p);

#endif
