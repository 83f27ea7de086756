/* SPDX-License-Identifier: MIT */
/* rtmp_payloads.h - memory for the payloads of messages, counted. */
#ifndef RTMP_PAYLOADS_H
#define RTMP_PAYLOADS_H

#include <stdint.h>
#include <stdlib.h>

static long payloads; /* alive */

static inline uint8_t *count_alloc(void *memory, size_t size)
{
    (void)memory;
    payloads++;
    return malloc(size);
}

static inline uint8_t *count_grow(uint8_t *payload, size_t size)
{
    return realloc(payload, size);
}

static inline void count_release(uint8_t *payload)
{
    payloads--;
    free(payload);
}

#endif
