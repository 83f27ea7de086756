/* SPDX-License-Identifier: MIT */
/* rtmfp.h - a live stream as RTMFP messages, made once for all players.
 *
 * A message is type, time and body, as each flow sends it (struct rtmfp_message). Fragmenting,
 * numbering and encryption are done per player. There is one wire for each source and worker; its
 * user calls rtmfp_wire_take() when a turn of its players is due. Nothing here yields.
 */
#ifndef WIRE_RTMFP_H
#define WIRE_RTMFP_H

#include "live/source.h"
#include "proto/rtmfp/message.h"

struct rtmfp_wire; /* owned by the caller of rtmfp_wire_new() */

enum rtmfp_wire_kind { RTMFP_WIRE_AUDIO, RTMFP_WIRE_VIDEO, RTMFP_WIRE_DATA };

/* Players that announce Opus and those that do not get different metadata, and the latter get no
 * Opus: flv_message_leave_out_opus(). */
enum rtmfp_wire_player { RTMFP_WIRE_ALL, RTMFP_WIRE_OPUS, RTMFP_WIRE_NO_OPUS };

struct rtmfp_wire_entry {
    struct rtmfp_message *message; /* the wire's reference */
    uint8_t kind;                  /* enum rtmfp_wire_kind */
    uint8_t player;                /* enum rtmfp_wire_player */
    bool key;                      /* players may start here */
    bool keep;                     /* never abandoned: sequence headers, data */
};

struct rtmfp_wire_opts {
    size_t max_bytes;   /* maximum size; the oldest messages are dropped for it */
    size_t *counter;    /* counter of its memory; NULL: not counted */
};

/* Takes a reference to src. */
struct rtmfp_wire *rtmfp_wire_new(struct live_source *src, const struct rtmfp_wire_opts *opts);
void rtmfp_wire_free(struct rtmfp_wire *w); /* NULL is fine */
/* Sets whether there are players; without them no messages are made. */
void rtmfp_wire_wanted(struct rtmfp_wire *w, bool wanted);
/* Makes messages of all packets that arrived since the last call. */
void rtmfp_wire_take(struct rtmfp_wire *w, co_usec now);

/* Entries have numbers; those from first to head - 1 are available. */
uint64_t rtmfp_wire_first(const struct rtmfp_wire *w);
uint64_t rtmfp_wire_head(const struct rtmfp_wire *w);
const struct rtmfp_wire_entry *rtmfp_wire_at(const struct rtmfp_wire *w, uint64_t number);
/* Finds the entry at which a player joins now, like srt_wire_join(). */
bool rtmfp_wire_join(const struct rtmfp_wire *w, uint64_t *number);
/* Returns the entries in force (metadata, sequence headers) for a player that starts at that entry,
 * at most `most`; with references of the wire, valid until the next take. Returns their number. */
size_t rtmfp_wire_configs(struct rtmfp_wire *w, uint64_t number,
                          struct rtmfp_wire_entry *out, size_t most);
/* Returns the entry with which the newest publisher began: times jump there. 0: none so far. */
uint64_t rtmfp_wire_began(const struct rtmfp_wire *w);

#endif
