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
/* co_fn: looks after all players of a service, once a second: their tokens, the configuration,
 * rates, lines of the log. */
err_t srt_look_main(void *service);
/* How long packets wait for a player of that latency. */
co_usec srt_play_every(const struct conf *conf, co_usec latency);
/* What it was sent since the last time counts for its stream. */
void srt_play_count(struct srt_peer *p);

/* For look.c: streams of a service, and players of a stream, one after the other; NULL: the first.
 * The caller may yield in between: a stream that it has a reference to stays, and the next player
 * is looked up by the stream. */
struct srt_stream *srt_stream_next(struct srt_service *s, struct srt_stream *st);
struct srt_stream *srt_stream_ref(struct srt_stream *st);
void srt_stream_look_begin(struct srt_stream *st);
struct srt_peer *srt_stream_look_next(struct srt_stream *st);

#endif
