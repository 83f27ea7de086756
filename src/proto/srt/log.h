/* SPDX-License-Identifier: MIT */
/* log.h - packets to send, cut once for all who are sent them, with the time they became due.
 *
 * Numbers count from 0 and never wrap; a player's sequence, message number and timestamp are sums
 * of a number of the log and constants of its own, so repeats come from here for all. Payloads
 * lie in blocks, which are immutable behind what was appended. All is of one thread.
 */
#ifndef PROTO_SRT_LOG_H
#define PROTO_SRT_LOG_H

#include "co/co.h"
#include "proto/srt/packet.h"

struct srt_log_entry {
    const uint8_t *data;
    uint16_t size;     /* 1..SRT_PAYLOAD_MAX */
    bool key;          /* a player may start here */
    co_usec due;
};

/* log.c's own */
struct srt_log_slot {
    uint8_t *data;
    co_usec due;
    uint16_t size;
    bool key;
};

enum { SRT_LOG_LEADS = 4 };

struct srt_log {
    uint64_t first, head;  /* the oldest kept, the next to come */
    uint64_t key;          /* the newest one to start at, */
    bool has_key;
    uint64_t key_before;   /* and the one that was that before, if it is still kept */
    uint64_t lead;         /* what goes in front of that: srt_log_lead_get(); 0: nothing */
    size_t bytes;          /* that it takes, of memory */
    /* log.c's own */
    struct srt_log_slot *slots; /* a ring: number % cap, a power of two */
    size_t cap;
    struct bump *pieces;
    size_t used, idle;     /* of those: bytes of payloads, and what nothing is in */
    struct srt_log_slot leads[SRT_LOG_LEADS]; /* number % SRT_LOG_LEADS */
    uint64_t n_leads;
};

void srt_log_init(struct srt_log *l);
void srt_log_fini(struct srt_log *l);
/* Append a packet. False: there is no memory, or its size is none of 1..SRT_PAYLOAD_MAX; it is left
 * out. */
bool srt_log_put(struct srt_log *l, const uint8_t *data, size_t size, bool key, co_usec due);
/* From now on that is the newest one to start at; it is one of those kept, behind the last such. */
void srt_log_key(struct srt_log *l, uint64_t number);
/* A packet that who joins from now on is sent in front of the first one of the log: tables, where
 * those in the log are not what a player needs. What says the same has the same number. Size 0:
 * there is none. The last few are kept. False as above. */
bool srt_log_lead(struct srt_log *l, const uint8_t *data, size_t size);
/* False: it is not there any more. It has no time of its own. */
bool srt_log_lead_get(const struct srt_log *l, uint64_t lead, struct srt_log_entry *out);
/* Forget what became due before `before`, but not `from` and what follows it; and whatever is above
 * max_bytes. What is sent from it must be with the system by then. */
void srt_log_trim(struct srt_log *l, co_usec before, uint64_t from, size_t max_bytes);

/* False: it is not there any more, or not yet. */
static inline bool srt_log_get(const struct srt_log *l, uint64_t number, struct srt_log_entry *out)
{
    const struct srt_log_slot *slot;

    if (number < l->first || number >= l->head)
        return false;
    slot = &l->slots[number & (l->cap - 1)];
    *out = (struct srt_log_entry){ slot->data, slot->size, slot->key, slot->due };
    return true;
}

#endif
