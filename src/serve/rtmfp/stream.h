/* SPDX-License-Identifier: MIT */
/* stream.h - the RTMFP players of a source on this worker, and the messages that they are sent.
 *
 * One walk serves them all: what came meanwhile is made into messages once, then each player's
 * flows get references to them, and its session cuts and seals what there is room for. It goes in
 * slices, so a thousand players hold nobody up.
 */
#ifndef SERVE_RTMFP_STREAM_H
#define SERVE_RTMFP_STREAM_H

#include "serve/rtmfp/peer.h"
#include "wire/rtmfp.h"

/* That of the source, made if there is none; with a reference for the caller. */
struct rtmfp_stream *rtmfp_stream_get(struct rtmfp_service *s, struct live_source *src);
void rtmfp_stream_put(struct rtmfp_stream *st); /* the reference back; NULL is fine */
struct rtmfp_wire *rtmfp_stream_wire(struct rtmfp_stream *st);
/* A player more: from now on it is served while it is RTMFP_PLAYS. Neither yields. */
void rtmfp_stream_add(struct rtmfp_stream *st, struct rtmfp_netstream *n);
void rtmfp_stream_remove(struct rtmfp_stream *st, struct rtmfp_netstream *n); /* fine if it is in
                                                                                * none */
bool rtmfp_stream_has(const struct rtmfp_netstream *n);

/* ---- play.c: what is new to it, into its flows. True: they may have something to send. Does not
 * yield. */
bool rtmfp_play_turn(struct rtmfp_netstream *n, co_usec now);

/* ---- look.c */
/* Once a second: its token, the configuration, rates, lines of the log. It may leave. */
void rtmfp_play_look(struct rtmfp_netstream *n, co_usec now);
/* What it was sent since the last time counts for its stream. */
void rtmfp_play_count(struct rtmfp_netstream *n);

#endif
