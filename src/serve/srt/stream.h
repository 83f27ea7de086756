/* SPDX-License-Identifier: MIT */
/* stream.h - the SRT players of a source on this worker, and the packets that they are sent.
 *
 * One walk serves them all when `merge` is up: what came meanwhile is cut into packets once, then
 * each player is sent those that are new to it with one system call, headers of 16 bytes and the
 * shared payloads. It goes in slices, so a thousand players hold nobody up.
 */
#ifndef SERVE_SRT_STREAM_H
#define SERVE_SRT_STREAM_H

#include "serve/srt/peer.h"
#include "wire/srt.h"

/* That of the source, made if there is none; with a reference for the caller. */
struct srt_stream *srt_stream_get(struct srt_service *s, struct live_source *src);
void srt_stream_put(struct srt_stream *st); /* the reference back; NULL is fine */
struct srt_wire *srt_stream_wire(struct srt_stream *st); /* where its publisher relays to */
/* A player more, with its play.every and the latency agreed on; from now on it is served while its
 * state is SRT_PLAYS. None of them yields. */
void srt_stream_add(struct srt_stream *st, struct srt_peer *p);
void srt_stream_remove(struct srt_stream *st, struct srt_peer *p); /* fine if it was not added */
bool srt_stream_has(const struct srt_peer *p);

/* ---- look.c */
/* Once a second: its token, the configuration, rates, lines of the log. It may leave. */
void srt_play_look(struct srt_peer *p, co_usec now);
/* How long packets wait for a player of that latency. */
co_usec srt_play_every(const struct conf *conf, co_usec latency);
/* What it was sent since the last time counts for its stream. */
void srt_play_count(struct srt_peer *p);

#endif
