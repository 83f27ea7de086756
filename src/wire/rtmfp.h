/* SPDX-License-Identifier: MIT */
/* rtmfp.h - a live stream as messages of RTMFP, made once for all who are sent them.
 *
 * A message is type, time and body, as each flow sends it (struct rtmfp_message); what differs
 * between players is how it is cut, numbered and encrypted. One wire for each source and worker;
 * whoever has it calls rtmfp_wire_take() when a turn of its players is due. Nothing here yields.
 */
#ifndef WIRE_RTMFP_H
#define WIRE_RTMFP_H

#include "live/source.h"
#include "proto/rtmfp/message.h"

struct rtmfp_wire; /* owned by who made it */

enum rtmfp_wire_kind { RTMFP_WIRE_AUDIO, RTMFP_WIRE_VIDEO, RTMFP_WIRE_DATA };

/* Players that announce Opus and those that do not are sent different metadata, and the latter no
 * Opus: flv_message_leave_out_opus(). */
enum rtmfp_wire_whose { RTMFP_WIRE_ALL, RTMFP_WIRE_OPUS, RTMFP_WIRE_NO_OPUS };

struct rtmfp_wire_entry {
    struct rtmfp_message *message; /* the wire's reference */
    uint8_t kind;                  /* enum rtmfp_wire_kind */
    uint8_t whose;                 /* enum rtmfp_wire_whose */
    bool key;                      /* players may begin here */
    bool keep;                     /* never abandoned: sequence headers, data */
};

struct rtmfp_wire_opts {
    size_t max_bytes;   /* what it may keep, beyond that the oldest goes */
    size_t *counter;    /* of memory, where that is counted; NULL: nowhere */
};

/* Takes a reference of src. */
struct rtmfp_wire *rtmfp_wire_new(struct live_source *src, const struct rtmfp_wire_opts *opts);
void rtmfp_wire_free(struct rtmfp_wire *w); /* NULL is fine */
/* Somebody plays, or nobody does any more: without players nothing is made. */
void rtmfp_wire_wanted(struct rtmfp_wire *w, bool wanted);
/* What came since the last turn is there after it. */
void rtmfp_wire_take(struct rtmfp_wire *w, co_usec now);

/* Entries have numbers: from first to head - 1 they are there. */
uint64_t rtmfp_wire_first(const struct rtmfp_wire *w);
uint64_t rtmfp_wire_head(const struct rtmfp_wire *w);
const struct rtmfp_wire_entry *rtmfp_wire_at(const struct rtmfp_wire *w, uint64_t number);
/* Where a player joins now: as srt_wire_join(). */
bool rtmfp_wire_join(const struct rtmfp_wire *w, uint64_t *number);
/* What is in force where that one stands (metadata, sequence headers), for who begins there; with
 * references of the wire, valid until the next take. Their count, at most `most`. */
size_t rtmfp_wire_configs(struct rtmfp_wire *w, uint64_t number,
                          struct rtmfp_wire_entry *out, size_t most);
/* The publisher began anew with entry `number`: times jump there. 0: never so far. */
uint64_t rtmfp_wire_began(const struct rtmfp_wire *w);

#endif
