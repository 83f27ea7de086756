/* SPDX-License-Identifier: MIT */
/* recv_window.h - packets that arrived and are not delivered, by number, and which ones are
 * missing.
 *
 * Two bits per number tell whether its packet is here or was given up; a number with neither is
 * missing. So gaps of any number and size take no memory, and runs of them are found, counted and
 * given up 64 at a time. Numbers count from SRT_RECV_WINDOW_FIRST and never wrap.
 */
#ifndef PROTO_SRT_RECV_WINDOW_H
#define PROTO_SRT_RECV_WINDOW_H

#include "co/co.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A multiple of 2^31, so the difference between sequence numbers and these numbers is constant. */
#define SRT_RECV_WINDOW_FIRST (UINT64_C(1) << 31)

struct srt_recv_window_packet {
    co_usec time;      /* on the sender's clock, since its zero; does not wrap */
    uint32_t size;
    uint8_t data[];
};

struct srt_recv_window_chunk;

struct srt_recv_window {
    uint64_t next;     /* first number neither delivered nor passed */
    uint64_t front;    /* first missing number: all before it arrived or were given up */
    uint64_t head;     /* end of the numbers that arrived or were mentioned */
    unsigned window;   /* next <= head <= next + window */
    unsigned held, dropped; /* in [next, head): packets here, packets given up */
    /* private */
    size_t mask;
    struct srt_recv_window_chunk *chunks; /* a ring */
};

bool srt_recv_window_init(struct srt_recv_window *h,
                          unsigned window); /* false if memory allocation fails */
void srt_recv_window_fini(struct srt_recv_window *h);
/* Frees some of the packets, of a window that gets no more: freeing thousands at once takes
 * milliseconds. Returns false when none are left. */
bool srt_recv_window_drain(struct srt_recv_window *h);

/* Extends head to `to`, at most next + window. */
void srt_recv_window_reach(struct srt_recv_window *h, uint64_t to);
bool srt_recv_window_has(const struct srt_recv_window *h,
                         uint64_t n); /* whether it is here; n in [next, head) */
/* Whether it was given up; also for numbers before `next`, as far as they are remembered. n <
 * head. */
bool srt_recv_window_was_dropped(const struct srt_recv_window *h, uint64_t n);
/* Stores a malloc'ed packet and takes it over; n must be in [next, head) and missing. Returns false
 * if memory allocation fails; then it stays missing. */
bool srt_recv_window_put(struct srt_recv_window *h, uint64_t n, struct srt_recv_window_packet *p);
/* Gives up the missing packets in [from, to), which is in [next, head); returns their number. */
unsigned srt_recv_window_give_up(struct srt_recv_window *h, uint64_t from, uint64_t to);
/* Returns the first packet here, or NULL; n becomes its number, or head. */
const struct srt_recv_window_packet *srt_recv_window_first(const struct srt_recv_window *h,
                                                           uint64_t *n);
const struct srt_recv_window_packet *srt_recv_window_last(const struct srt_recv_window *h);
/* Passes all numbers up to `to`, which must be given up. */
void srt_recv_window_pass(struct srt_recv_window *h, uint64_t to);
/* Removes and returns the packet with number `next`, which must be here. The caller frees it. */
struct srt_recv_window_packet *srt_recv_window_take(struct srt_recv_window *h);
/* Finds the first run [*first, *end) of missing numbers in [from, to); to <= head. */
bool srt_recv_window_missing(const struct srt_recv_window *h, uint64_t from, uint64_t to,
                             uint64_t *first, uint64_t *end);

static inline unsigned srt_recv_window_misses(const struct srt_recv_window *h)
{
    return (unsigned)(h->head - h->next) - h->held - h->dropped;
}

#endif
