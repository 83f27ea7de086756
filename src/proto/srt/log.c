/* SPDX-License-Identifier: MIT */
/* log.c - the packet log in SRT format: a ring of packets, whose payloads are in blocks
 * (base/bump.h).
 */
#include "proto/srt/log.h"

#include "base/bump.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { CAP_MIN = 64 };

static void count(struct srt_log *l)
{
    l->bytes = l->used + l->idle + l->cap * sizeof(*l->slots);
}

void srt_log_init(struct srt_log *l)
{
    memset(l, 0, sizeof(*l));
}

static void drop_first(struct srt_log *l)
{
    struct srt_log_slot *slot = &l->slots[l->first & (l->cap - 1)];

    l->used -= slot->size;
    bump_free(slot->data);
    l->first++;
    l->has_key = l->has_key && l->key >= l->first;
}

void srt_log_fini(struct srt_log *l)
{
    while (l->first < l->head)
        drop_first(l);
    for (unsigned i = 0; i < SRT_LOG_LEADS; i++)
        free(l->leads[i].data);
    l->pieces = bump_close(l->pieces);
    free(l->slots);
    l->slots = NULL;
    l->cap = 0;
    count(l);
}

/* Makes room in the ring for one more. Enlarging moves all entries, because the index is the number
 * modulo the size. */
static bool has_room(struct srt_log *l)
{
    size_t cap = l->cap ? 2 * l->cap : CAP_MIN;
    struct srt_log_slot *slots;
    uint64_t n;

    if (l->head - l->first < l->cap)
        return true;
    slots = (struct srt_log_slot *)mem_try(cap * sizeof(*slots));
    if (!slots)
        return false;
    for (n = l->first; n < l->head; n++)
        slots[n & (cap - 1)] = l->slots[n & (l->cap - 1)];
    free(l->slots);
    l->slots = slots;
    l->cap = cap;
    return true;
}

bool srt_log_put(struct srt_log *l, const uint8_t *data, size_t size, bool key, co_usec due)
{
    uint8_t *copy;

    if (size < 1 || size > SRT_PAYLOAD_MAX || !has_room(l))
        return false;
    if (!l->pieces)
        l->pieces = bump_new(&l->idle);
    copy = (uint8_t *)bump_try(l->pieces, size);
    if (!copy)
        return false;
    memcpy(copy, data, size);
    l->slots[l->head & (l->cap - 1)] = (struct srt_log_slot){ copy, due, (uint16_t)size, key };
    l->used += size;
    if (key)
        srt_log_key(l, l->head);
    l->head++;
    count(l);
    return true;
}

void srt_log_key(struct srt_log *l, uint64_t number)
{
    l->key_before = l->key;
    l->key = number;
    l->has_key = true;
}

void srt_log_trim(struct srt_log *l, co_usec before, uint64_t from, size_t max_bytes)
{
    while (l->first < l->head && l->first < from
           && l->slots[l->first & (l->cap - 1)].due < before)
        drop_first(l);
    while (l->first < l->head && l->used > max_bytes)
        drop_first(l);
    count(l);
}

static struct srt_log_slot *lead_of(struct srt_log *l, uint64_t lead)
{
    return &l->leads[lead % SRT_LOG_LEADS];
}

bool srt_log_lead(struct srt_log *l, const uint8_t *data, size_t size)
{
    struct srt_log_slot *slot = lead_of(l, l->n_leads);
    uint8_t *copy;

    if (size > SRT_PAYLOAD_MAX)
        return false;
    l->lead = size > 0 ? l->n_leads : 0;
    if (size == 0 || (slot->size == size && memcmp(slot->data, data, size) == 0))
        return true;
    l->lead = 0;
    copy = (uint8_t *)mem_try(size);
    if (!copy)
        return false;
    memcpy(copy, data, size);
    l->lead = ++l->n_leads;
    slot = lead_of(l, l->lead);
    free(slot->data);
    *slot = (struct srt_log_slot){ .data = copy, .size = (uint16_t)size };
    return true;
}

bool srt_log_lead_get(const struct srt_log *l, uint64_t lead, struct srt_log_entry *out)
{
    const struct srt_log_slot *slot = &l->leads[lead % SRT_LOG_LEADS];

    if (lead == 0 || lead > l->n_leads || l->n_leads - lead >= SRT_LOG_LEADS)
        return false;
    *out = (struct srt_log_entry){ .data = slot->data, .size = slot->size };
    return true;
}
