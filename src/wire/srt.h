/* SPDX-License-Identifier: MIT */
/* srt.h - a live stream as SRT packets, made once for all players.
 *
 * Most streams go through our TS muxer: it takes whole frames from the source, and the last
 * incomplete packet is sent when the turn ends instead of when it is full. While an SRT client
 * publishes and `relay` is on, its packets are relayed unchanged.
 *
 * There is one wire for each source and worker; its user calls srt_wire_take() when a turn of its
 * players is due. Nothing here yields.
 */
#ifndef WIRE_SRT_H
#define WIRE_SRT_H

#include "live/source.h"
#include "proto/srt/log.h"

struct srt_wire; /* owned by the caller of srt_wire_new() */

struct srt_wire_opts {
    unsigned payload;   /* bytes of a packet, n * 188 */
    size_t max_bytes;   /* maximum size of its log; the oldest packets are dropped for it */
    size_t *counter;    /* counter of its memory; NULL: not counted */
};

/* Takes a reference to src. */
struct srt_wire *srt_wire_new(struct live_source *src, const struct srt_wire_opts *opts);
void srt_wire_free(struct srt_wire *w); /* NULL is fine */
struct srt_log *srt_wire_log(struct srt_wire *w);
/* Finds the packet at which a player joins now. Returns true for a key frame; false: behind the
 * newest packet, where it waits for the next key frame. */
bool srt_wire_join(const struct srt_wire *w, uint64_t *number);
/* Sets whether there are players; without them nothing is muxed, and only relayed packets are kept.
 * The first player finds the newest GOP in the log. */
void srt_wire_wanted(struct srt_wire *w, bool wanted);
/* Adds the packets that arrived since the last call to the log, due now. */
void srt_wire_take(struct srt_wire *w, co_usec now);
/* Sets how long packets are kept for retransmission: the longest latency of its players. */
void srt_wire_keep(struct srt_wire *w, co_usec time);

/* The SRT publisher of the source, on the owner worker: its packets are relayed from now on, until
 * relay_end(). Players stay: they get a discontinuity and new tables. */
void srt_wire_relay_begin(struct srt_wire *w);
void srt_wire_relay_end(struct srt_wire *w);
/* Relays a message unchanged. relay_key() has the current tables (PAT, PMT) to put in front of a
 * player's start; the newest key frame begins `back` bytes before the end of the relayed bytes. */
void srt_wire_relay_put(struct srt_wire *w, const uint8_t *data, size_t size, co_usec now);
void srt_wire_relay_key(struct srt_wire *w, uint64_t back, const uint8_t *tables, size_t size);

#endif
