/* SPDX-License-Identifier: MIT */
/* rtp_log.c - packets in a ring, with their payloads one after the other in blocks
 * (base/bump.h). */
#include "wire/rtp_log.h"

#include "base/bump.h"
#include "base/mem.h"
#include "base/must.h"

#include <stdlib.h>
#include <string.h>

/* WINDOW: how far a late packet may be behind the highest number of its track. */
enum { CAP_MIN = 128, WINDOW = 2048, WORD = 64 };

struct slot {
    uint8_t *data;     /* values of extensions, then the payload; NULL: both are empty */
    int64_t number, ticks;
    co_usec at;
    uint16_t size;
    uint8_t ext_size;
    uint8_t track : 1;
    bool marker : 1, key : 1, late : 1, spare : 1;
};

/* `positions`: the low bits of the newest position of each number, at number % cap; the slot shows
 * whether it is still that packet. `had`: which of the last numbers have arrived. A number is never
 * used for two different packets, so a duplicate is dropped. */
struct track {
    uint32_t *positions;
    bool begun;
    int64_t highest;
    uint64_t had[WINDOW / WORD]; /* number % WINDOW */
};

struct rtp_log {
    uint64_t first, head;
    uint64_t key;
    bool has_key;
    struct slot *slots; /* ring, indexed by position % cap; cap is a power of two */
    size_t cap;
    struct bump *pieces;
    size_t used, idle;  /* bytes of payloads, and of empty blocks */
    struct track tracks[RTP_LOG_TRACKS];
};

static struct slot *slot_of(const struct rtp_log *l, uint64_t position)
{
    return &l->slots[position & (l->cap - 1)];
}

struct rtp_log *rtp_log_new(void)
{
    return must(calloc(1, sizeof(struct rtp_log)));
}

static void drop_first(struct rtp_log *l)
{
    struct slot *s = slot_of(l, l->first);

    l->used -= s->size + s->ext_size;
    if (s->data)
        bump_free(s->data);
    l->first++;
    l->has_key = l->has_key && l->key >= l->first;
}

void rtp_log_free(struct rtp_log *l)
{
    if (!l)
        return;
    while (l->first < l->head)
        drop_first(l);
    (void)bump_close(l->pieces);
    for (unsigned i = 0; i < RTP_LOG_TRACKS; i++)
        free(l->tracks[i].positions);
    free(l->slots);
    free(l);
}

/* ---- ring */

static void record_position(struct rtp_log *l, uint64_t position)
{
    const struct slot *s = slot_of(l, position);

    l->tracks[s->track].positions[(uint64_t)s->number & (l->cap - 1)] = (uint32_t)position;
}

/* Grows the ring. All entries move, because a position is the number modulo the capacity. */
static bool grow(struct rtp_log *l, size_t cap)
{
    struct slot *slots = mem_try(cap * sizeof(*slots));
    uint32_t *positions[RTP_LOG_TRACKS];
    bool fits = slots != NULL;

    for (unsigned i = 0; i < RTP_LOG_TRACKS; i++) {
        positions[i] = mem_try(cap * sizeof(positions[0][0]));
        fits = fits && positions[i];
    }
    if (!fits) {
        free(slots);
        for (unsigned i = 0; i < RTP_LOG_TRACKS; i++)
            free(positions[i]);
        return false;
    }
    for (uint64_t p = l->first; p < l->head; p++)
        slots[p & (cap - 1)] = *slot_of(l, p);
    free(l->slots);
    l->slots = slots;
    l->cap = cap;
    for (unsigned i = 0; i < RTP_LOG_TRACKS; i++) {
        memset(positions[i], 0, cap * sizeof(positions[0][0]));
        free(l->tracks[i].positions);
        l->tracks[i].positions = positions[i];
    }
    for (uint64_t p = l->first; p < l->head; p++)
        record_position(l, p);
    return true;
}

static bool has_room(struct rtp_log *l)
{
    return l->head - l->first < l->cap || grow(l, l->cap ? 2 * l->cap : CAP_MIN);
}

/* ---- numbers */

static uint64_t bit(int64_t number, uint64_t **word, struct track *t)
{
    uint64_t n = (uint64_t)number % WINDOW;

    *word = &t->had[n / WORD];
    return UINT64_C(1) << n % WORD;
}

static bool is_new(struct track *t, int64_t number)
{
    uint64_t *word, mask = bit(number, &word, t);

    if (!t->begun || number > t->highest)
        return true;
    return t->highest - number < WINDOW && !(*word & mask);
}

static void mark(struct track *t, int64_t number)
{
    uint64_t *word, mask;

    if (!t->begun || number - t->highest >= WINDOW) {
        memset(t->had, 0, sizeof(t->had));
    } else {
        for (int64_t n = t->highest + 1; n <= number; n++) {
            mask = bit(n, &word, t);
            *word &= ~mask;
        }
    }
    if (!t->begun || number > t->highest)
        t->highest = number;
    t->begun = true;
    mask = bit(number, &word, t);
    *word |= mask;
}

/* ---- put and get */

static bool copy(struct rtp_log *l, const struct rtp_log_entry *e, uint8_t **out)
{
    uint8_t *to = NULL;

    if (e->size + e->ext_size > 0) {
        if (!l->pieces)
            l->pieces = bump_new(&l->idle);
        to = bump_try(l->pieces, (size_t)e->ext_size + e->size);
        if (!to)
            return false;
        if (e->ext_size > 0)
            memcpy(to, e->ext, e->ext_size);
        if (e->size > 0)
            memcpy(to + e->ext_size, e->data, e->size);
    }
    *out = to;
    return true;
}

bool rtp_log_put(struct rtp_log *l, const struct rtp_log_entry *e)
{
    struct slot s = { .number = e->number, .ticks = e->ticks, .at = e->at, .size = e->size,
                      .ext_size = e->ext_size, .track = e->track & 1, .marker = e->marker,
                      .key = e->key, .spare = e->spare };
    struct track *t = &l->tracks[s.track];

    if (e->size > RTP_LOG_PAYLOAD_MAX || e->ext_size > RTP_LOG_EXT_MAX ||
        e->track >= RTP_LOG_TRACKS || !is_new(t, e->number) || !has_room(l) ||
        !copy(l, e, &s.data))
        return false;
    s.late = t->begun && e->number < t->highest;
    mark(t, e->number);
    *slot_of(l, l->head) = s;
    record_position(l, l->head);
    l->used += s.size + s.ext_size;
    if (e->key) {
        l->key = l->head;
        l->has_key = true;
    }
    l->head++;
    return true;
}

uint64_t rtp_log_first(const struct rtp_log *l)
{
    return l->first;
}

uint64_t rtp_log_head(const struct rtp_log *l)
{
    return l->head;
}

bool rtp_log_key(const struct rtp_log *l, uint64_t *position)
{
    *position = l->key;
    return l->has_key;
}

void rtp_log_no_key(struct rtp_log *l)
{
    l->has_key = false;
}

bool rtp_log_highest(const struct rtp_log *l, unsigned track, int64_t *number)
{
    *number = l->tracks[track].highest;
    return l->tracks[track].begun;
}

bool rtp_log_get(const struct rtp_log *l, uint64_t position, struct rtp_log_entry *out)
{
    const struct slot *s;

    if (position < l->first || position >= l->head)
        return false;
    s = slot_of(l, position);
    *out = (struct rtp_log_entry){
        .data = s->data ? s->data + s->ext_size : NULL, .size = s->size, .track = s->track,
        .marker = s->marker, .key = s->key, .late = s->late, .spare = s->spare,
        .number = s->number,
        .ticks = s->ticks, .at = s->at, .ext = s->data, .ext_size = s->ext_size,
    };
    return true;
}

bool rtp_log_find(const struct rtp_log *l, unsigned track, int64_t number, uint64_t *position)
{
    const struct slot *s;

    if (track >= RTP_LOG_TRACKS || l->first == l->head)
        return false;
    *position = l->first + (uint32_t)(l->tracks[track].positions[(uint64_t)number & (l->cap - 1)] -
                                   (uint32_t)l->first);
    if (*position >= l->head)
        return false;
    s = slot_of(l, *position);
    return s->track == track && s->number == number;
}

void rtp_log_trim(struct rtp_log *l, co_usec before, uint64_t from, size_t max_bytes)
{
    while (l->first < l->head && l->first < from && slot_of(l, l->first)->at < before)
        drop_first(l);
    while (l->first < l->head && l->used > max_bytes)
        drop_first(l);
}

size_t rtp_log_bytes(const struct rtp_log *l)
{
    return sizeof(*l) + l->used + l->idle +
           l->cap * (sizeof(l->slots[0]) + RTP_LOG_TRACKS * sizeof(l->tracks[0].positions[0]));
}
