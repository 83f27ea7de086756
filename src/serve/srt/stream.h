/* SPDX-License-Identifier: MIT */
/* stream.h - the SRT players of a source on this worker, and the packets that they are sent.
 *
 * One walk serves them all when `merge` is up: what came meanwhile is cut into packets once, then
 * One walk serves them all when `merge` is up: what came meanwhile is cut into packets once, then
 * and headers of 16 bytes.
 */
#ifndef SERVE_SRT_STREAM_H
#define SERVE_SRT_STREAM_H

#include "serve/srt/peer.h"
#include "wire/srt.h"

/* That of the source, made if there is none; with a reference for the caller. */
struct srt_stream *srt_stream_get(struct srt_service *s, struct live_source *src);
void srt_stream_put(struct srt_stream *st); /* the reference back; NULL is fine */
struct srt_wire *srt_stream_wire(struct srt_stream *st); /* where its publisher relays to */
void srt_stream_add(struct srt_stream *st, struct srt_peer *p);
void srt_stream_remove(struct srt_stream *st, struct srt_peer *p);

#endif
