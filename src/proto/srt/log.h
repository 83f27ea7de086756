/* SPDX-License-Identifier: MIT */
/* log.h - the packet log of a stream in SRT format: packets are cut once for all players, with the
 * time they became due.
 *
 * Numbers count from 0 and never wrap. A player's sequence number, message number and timestamp are
 * sums of a number in the log and the player's own constants, so retransmissions for all players
 * are read from here. Payloads are in blocks, which are immutable except for appending. All of it
 * belongs to one thread.
 */
#ifndef PROTO_SRT_LOG_H
#define PROTO_SRT_LOG_H

#include "co/co.h"
#include "proto/srt/packet.h"

struct srt_log_entry {
    const uint8_t *data;
    uint16_t size;     /* 1..SRT_PAYLOAD_MAX */
    bool key;          /* a player can start here */
    co_usec due;
};

/* private to log.c */
struct srt_log_slot {
    uint8_t *data;
    co_usec due;
    uint16_t size;
    bool key;
};

enum { SRT_LOG_LEADS = 4 };

struct srt_log {
    uint64_t first, head;  /* number of the oldest packet; number of the next packet */
    uint64_t key;          /* number of the newest packet to start at, */
    bool has_key;
    uint64_t key_before;   /* and of the previous one, if it is still in the log */
    uint64_t lead;         /* tables to send before `key`: srt_log_lead_get(); 0: none */
    size_t bytes;          /* bytes of memory used */
    /* private to log.c */
    struct srt_log_slot *slots; /* ring: index is number % cap; cap is a power of two */
    size_t cap;
    struct bump *pieces;
    size_t used, idle;     /* bytes of payloads; unused bytes in the blocks */
    struct srt_log_slot leads[SRT_LOG_LEADS]; /* index is number % SRT_LOG_LEADS */
    uint64_t n_leads;
};

void srt_log_init(struct srt_log *l);
void srt_log_fini(struct srt_log *l);
/* Appends a packet. Returns false, and drops it, if memory allocation fails or the size is not in
 * 1..SRT_PAYLOAD_MAX. */
bool srt_log_put(struct srt_log *l, const uint8_t *data, size_t size, bool key, co_usec due);
/* Marks a packet in the log as the newest one to start at; it must follow the previous one. */
void srt_log_key(struct srt_log *l, uint64_t number);
/* Sets the packet that a player who joins from now on gets before its first packet of the log:
 * tables, for streams whose log lacks the tables that a player needs. Identical contents have the
 * same number. Size 0: none. The last few are kept. Returns false as above. */
bool srt_log_lead(struct srt_log *l, const uint8_t *data, size_t size);
/* Returns false if the tables are no longer kept. The entry has no time. */
bool srt_log_lead_get(const struct srt_log *l, uint64_t lead, struct srt_log_entry *out);
/* Drops packets that became due before `before`, except `from` and later ones, and then the oldest
 * ones beyond max_bytes. Packets that are being sent must have been passed to the system. */
void srt_log_trim(struct srt_log *l, co_usec before, uint64_t from, size_t max_bytes);

/* Returns false if the packet is no longer or not yet in the log. */
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
