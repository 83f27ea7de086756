/* SPDX-License-Identifier: MIT */
/* window.h - which of the last packets came: the replay list of [SRTP] 3.3.2, a ring of bits.
 *
 * Positions are those of indices in the ring, so nothing moves when a newer one comes.
 */
#ifndef PROTO_SRTP_WINDOW_H
#define PROTO_SRTP_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/* `size` bits of `bits`, a power of 2 of 64 at least, which end at index `top`. */
static inline bool srtp_window_has(const uint64_t *bits, unsigned size, uint64_t at)
{
    return bits[at % size / 64] >> (at % 64) & 1;
}

/* May this one be new? False: it came, or is older than the window. */
static inline bool srtp_window_new(const uint64_t *bits, unsigned size, uint64_t top, uint64_t at)
{
    return at > top || (top - at < size && !srtp_window_has(bits, size, at));
}

/* It came; `at` is new by the above. Returns the top. */
static inline uint64_t srtp_window_add(uint64_t *bits, unsigned size, uint64_t top, uint64_t at)
{
    uint64_t from = at > top && at - top >= size ? at - size + 1 : top + 1;

    for (uint64_t i = from; i <= at; i++)
        bits[i % size / 64] &= ~(UINT64_C(1) << (i % 64));
    bits[at % size / 64] |= UINT64_C(1) << (at % 64);
    return at > top ? at : top;
}

#endif
