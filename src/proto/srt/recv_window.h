/* SPDX-License-Identifier: MIT */
/* recv_window.h - packets that came and are not delivered: by their numbers, with what is missing.
 *
 * Two bits for each number say whether its packet is here or was given up; whoever is neither is
 * missing. So gaps of any number and size take no memory, and finding, counting and giving up runs
 * of them goes 64 at a time. Numbers count from SRT_RECV_WINDOW_FIRST and never wrap.
 */
#ifndef PROTO_SRT_RECV_WINDOW_H
#define PROTO_SRT_RECV_WINDOW_H

#include "co/co.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A multiple of 2^31, so that what a sequence number and this one differ by is a constant. */
#define SRT_RECV_WINDOW_FIRST (UINT64_C(1) << 31)

struct srt_recv_window_packet {
    co_usec time;      /* of the sender's clock, from its zero on; does not wrap */
    uint32_t size;
    uint8_t data[];
};

struct srt_recv_window_chunk;

struct srt_recv_window {
    uint64_t next;     /* the first that was neither delivered nor passed */
    uint64_t front;    /* the first that is missing: all below came or were given up */
    uint64_t head;     /* behind the highest that came or was spoken of */
    unsigned window;   /* next <= head <= next + window */
    unsigned held, gone; /* of [next, head): here, given up */
    /* ours */
    size_t mask;
    struct srt_recv_window_chunk *chunks; /* a ring */
};

bool srt_recv_window_init(struct srt_recv_window *h,
                          unsigned window); /* false: there is no memory */
void srt_recv_window_fini(struct srt_recv_window *h);
/* Free some of what is here, of a ring that nothing comes to any more: thousands at once would take
 * milliseconds. False: nothing is left. */
bool srt_recv_window_drain(struct srt_recv_window *h);

/* From now on it is spoken of all below `to`, at most next + window. */
void srt_recv_window_reach(struct srt_recv_window *h, uint64_t to);
bool srt_recv_window_has(const struct srt_recv_window *h,
                         uint64_t n); /* it is here; n in [next, head) */
/* It was given up; also of those before `next`, as far as that is remembered. n < head. */
bool srt_recv_window_was_dropped(const struct srt_recv_window *h, uint64_t n);
/* Take it over, malloc'ed; n is in [next, head) and missing. False: no memory, it stays missing. */
bool srt_recv_window_put(struct srt_recv_window *h, uint64_t n, struct srt_recv_window_packet *p);
/* Give up what is missing of [from, to), in [next, head); how many those were. */
unsigned srt_recv_window_give_up(struct srt_recv_window *h, uint64_t from, uint64_t to);
/* The first one that is here, NULL: none; n is its number, or head. */
const struct srt_recv_window_packet *srt_recv_window_first(const struct srt_recv_window *h,
                                                           uint64_t *n);
const struct srt_recv_window_packet *srt_recv_window_last(const struct srt_recv_window *h);
/* Pass all up to `to`, which are given up. */
void srt_recv_window_pass(struct srt_recv_window *h, uint64_t to);
/* The packet of `next`, which is here and goes to the caller; next is the one behind it. */
struct srt_recv_window_packet *srt_recv_window_take(struct srt_recv_window *h);
/* The first run [*first, *end) of missing ones of [from, to); to <= head. */
bool srt_recv_window_missing(const struct srt_recv_window *h, uint64_t from, uint64_t to,
                             uint64_t *first, uint64_t *end);

static inline unsigned srt_recv_window_misses(const struct srt_recv_window *h)
{
    return (unsigned)(h->head - h->next) - h->held - h->gone;
}

#endif
