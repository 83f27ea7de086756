/* SPDX-License-Identifier: MIT */
/* srt.h - a live stream as packets of SRT, cut once for all who are sent them.
 *
 * Of most streams it is our TS muxer that makes them: whole frames are taken from the source, and
 * what is left of a packet goes out when the turn is over, not when it is full. While an SRT
 * publisher is the source and `relay` is on, its packets as they came are what is sent.
 *
 * One for each source and worker; whoever has it calls srt_wire_take() when a turn of its players
 * is due. Nothing here yields.
 */
#ifndef WIRE_SRT_H
#define WIRE_SRT_H

#include "live/source.h"
#include "proto/srt/log.h"

struct srt_wire; /* owned by who made it */

struct srt_wire_opts {
    unsigned payload;   /* bytes of a packet, n * 188 */
    size_t max_bytes;   /* what its log may take, beyond that the oldest goes */
    size_t *counter;    /* of memory, where that is counted; NULL: nowhere */
};

/* Takes a reference of src. */
struct srt_wire *srt_wire_new(struct live_source *src, const struct srt_wire_opts *opts);
void srt_wire_free(struct srt_wire *w); /* NULL is fine */
struct srt_log *srt_wire_log(struct srt_wire *w);
/* Where a player joins now. True: at a key frame; false: behind the newest packet, where it waits
 * for the next key frame. */
bool srt_wire_join(const struct srt_wire *w, uint64_t *number);
/* Somebody plays, or nobody does any more: without players nothing is muxed, and only what is
 * relayed is kept. The first one finds the newest group of pictures in the log. */
void srt_wire_wanted(struct srt_wire *w, bool wanted);
/* What came since the last turn is in the log after it, due now. */
void srt_wire_take(struct srt_wire *w, co_usec now);
/* How long packets are kept for repeats, the longest that a player may ask for one. */
void srt_wire_keep(struct srt_wire *w, co_usec time);

/* The SRT publisher of the source, at its home: from now on its packets count; NULL says that they
 * do no more. Players stay: a discontinuity is told, tables come again. */
void srt_wire_relay_begin(struct srt_wire *w);
void srt_wire_relay_end(struct srt_wire *w);
/* A message as it came, and the tables (PAT, PMT) as they are by now, to put in front of where
 * players begin. `key`: the newest key frame begins `back` bytes before the end of what was put. */
void srt_wire_relay_put(struct srt_wire *w, const uint8_t *data, size_t size, co_usec now);
void srt_wire_relay_key(struct srt_wire *w, uint64_t back, const uint8_t *tables, size_t size);

#endif
