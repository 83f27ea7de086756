/* SPDX-License-Identifier: MIT */
/* recv_window.c - packets that arrived and are not delivered. */
#include "proto/srt/recv_window.h"

#include "base/mem.h"
#include "base/must.h"

#include <assert.h>
#include <stdlib.h>

enum { CHUNK = 64, FIRST = 16 };

/* State of 64 numbers. */
struct srt_recv_window_chunk {
    uint64_t have, dropped;
    struct srt_recv_window_packet **slots; /* NULL until the first packet arrives */
};

bool srt_recv_window_init(struct srt_recv_window *h, unsigned window)
{
    *h = (struct srt_recv_window){ .next = SRT_RECV_WINDOW_FIRST, .front = SRT_RECV_WINDOW_FIRST,
                            .head = SRT_RECV_WINDOW_FIRST, .window = window, .mask = FIRST - 1 };
    h->chunks = mem_may(FIRST * sizeof(h->chunks[0])) ? calloc(FIRST, sizeof(h->chunks[0])) : NULL;
    return h->chunks != NULL;
}

static void free_chunk(struct srt_recv_window_chunk *c)
{
    for (unsigned i = 0; c->slots && i < CHUNK; i++)
        if (c->have >> i & 1)
            free(c->slots[i]);
    free(c->slots);
}

bool srt_recv_window_drain(struct srt_recv_window *h)
{
    for (size_t i = 0; i <= h->mask; i++) {
        struct srt_recv_window_chunk *c = &h->chunks[i];

        if (!c->slots)
            continue;
        h->held -= (unsigned)__builtin_popcountll(c->have);
        free_chunk(c);
        *c = (struct srt_recv_window_chunk){ 0 };
        return true;
    }
    return false;
}

void srt_recv_window_fini(struct srt_recv_window *h)
{
    for (size_t i = 0; h->chunks && i <= h->mask; i++)
        free_chunk(&h->chunks[i]);
    free(h->chunks);
    h->chunks = NULL;
}

/* ---- bits */

static struct srt_recv_window_chunk *chunk_of(const struct srt_recv_window *h, uint64_t n)
{
    return &h->chunks[(n / CHUNK) & h->mask];
}

static uint64_t bit_of(uint64_t n)
{
    return UINT64_C(1) << (n % CHUNK);
}

/* Mask of [n, to) in the chunk of n. */
static uint64_t bits_of(uint64_t n, uint64_t to)
{
    uint64_t from = ~UINT64_C(0) << (n % CHUNK), end = n - n % CHUNK + CHUNK;

    return to >= end ? from : from & (bit_of(to) - 1);
}

/* Returns the first number in [n, to) of this kind, or `to` if there is none. */
enum kind { HERE, SETTLED, MISSING };
static uint64_t find(const struct srt_recv_window *h, enum kind kind, uint64_t n, uint64_t to)
{
    while (n < to) {
        const struct srt_recv_window_chunk *c = chunk_of(h, n);
        uint64_t bits = kind == HERE ? c->have : c->have | c->dropped;

        bits = (kind == MISSING ? ~bits : bits) & bits_of(n, to);
        if (bits)
            return n - n % CHUNK + (unsigned)__builtin_ctzll(bits);
        n += CHUNK - n % CHUNK;
    }
    return to;
}

static void move_front(struct srt_recv_window *h)
{
    if (h->front < h->next)
        h->front = h->next;
    h->front = find(h, MISSING, h->front, h->head);
}

/* ---- receiving */

/* Makes room for [next, to): 6 KB for the largest window. */
static void make_room(struct srt_recv_window *h, uint64_t to)
{
    uint64_t last = (h->head - 1) / CHUNK;
    size_t n = h->mask + 1;
    struct srt_recv_window_chunk *more;

    while (h->next / CHUNK + n <= (to - 1) / CHUNK)
        n *= 2;
    if (n == h->mask + 1)
        return;
    more = must(calloc(n, sizeof(*more)));
    for (size_t i = 0; i <= h->mask; i++)
        more[(last - i) & (n - 1)] = h->chunks[(last - i) & h->mask];
    free(h->chunks);
    h->chunks = more;
    h->mask = n - 1;
}

void srt_recv_window_reach(struct srt_recv_window *h, uint64_t to)
{
    assert(to <= h->next + h->window);
    if (to <= h->head)
        return;
    make_room(h, to);
    for (uint64_t c = (h->head - 1) / CHUNK + 1; c <= (to - 1) / CHUNK; c++)
        chunk_of(h, c * CHUNK)->dropped = 0; /* bits of earlier numbers */
    h->head = to;
}

bool srt_recv_window_has(const struct srt_recv_window *h, uint64_t n)
{
    return chunk_of(h, n)->have & bit_of(n);
}

bool srt_recv_window_was_dropped(const struct srt_recv_window *h, uint64_t n)
{
    bool known = n / CHUNK + h->mask >= (h->head - 1) / CHUNK;

    return known && (chunk_of(h, n)->dropped & bit_of(n));
}

bool srt_recv_window_put(struct srt_recv_window *h, uint64_t n, struct srt_recv_window_packet *p)
{
    struct srt_recv_window_chunk *c = chunk_of(h, n);

    if (!c->slots)
        c->slots = mem_try(CHUNK * sizeof(c->slots[0]));
    if (!c->slots)
        return false;
    c->slots[n % CHUNK] = p;
    c->have |= bit_of(n);
    h->held++;
    if (n == h->front)
        move_front(h);
    return true;
}

unsigned srt_recv_window_give_up(struct srt_recv_window *h, uint64_t from, uint64_t to)
{
    unsigned count = 0;

    for (uint64_t n = from; n < to; n += CHUNK - n % CHUNK) {
        struct srt_recv_window_chunk *c = chunk_of(h, n);
        uint64_t bits = bits_of(n, to) & ~(c->have | c->dropped);

        c->dropped |= bits;
        count += (unsigned)__builtin_popcountll(bits);
    }
    h->dropped += count;
    move_front(h);
    return count;
}

/* ---- delivery */

const struct srt_recv_window_packet *srt_recv_window_first(const struct srt_recv_window *h,
                                                           uint64_t *n)
{
    *n = h->held ? find(h, HERE, h->next, h->head) : h->head;
    return *n < h->head ? chunk_of(h, *n)->slots[*n % CHUNK] : NULL;
}

const struct srt_recv_window_packet *srt_recv_window_last(const struct srt_recv_window *h)
{
    uint64_t n = h->head;

    if (!h->held)
        return NULL;
    for (;;) {
        const struct srt_recv_window_chunk *c = chunk_of(h, n - 1);

        if (c->have & bits_of(n - 1 - (n - 1) % CHUNK, n))
            return c->slots[CHUNK - 1 - (unsigned)__builtin_clzll(c->have)];
        n -= (n - 1) % CHUNK + 1;
    }
}

static void drop_slots(struct srt_recv_window *h, uint64_t chunk)
{
    struct srt_recv_window_chunk *c = &h->chunks[chunk & h->mask];

    free(c->slots);
    c->slots = NULL;
}

static void advance(struct srt_recv_window *h, uint64_t to)
{
    for (uint64_t c = h->next / CHUNK; c < to / CHUNK; c++)
        drop_slots(h, c);
    h->next = to;
    if (h->front < to)
        move_front(h);
}

void srt_recv_window_pass(struct srt_recv_window *h, uint64_t to)
{
    h->dropped -= (unsigned)(to - h->next);
    advance(h, to);
}

struct srt_recv_window_packet *srt_recv_window_take(struct srt_recv_window *h)
{
    struct srt_recv_window_chunk *c = chunk_of(h, h->next);
    struct srt_recv_window_packet *p = c->slots[h->next % CHUNK];

    c->have &= ~bit_of(h->next);
    h->held--;
    advance(h, h->next + 1);
    return p;
}

bool srt_recv_window_missing(const struct srt_recv_window *h, uint64_t from, uint64_t to,
                             uint64_t *first, uint64_t *end)
{
    *first = find(h, MISSING, from, to);
    *end = find(h, SETTLED, *first, to);
    return *first < to;
}
