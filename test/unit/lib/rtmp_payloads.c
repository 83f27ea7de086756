/* SPDX-License-Identifier: MIT */
/* rtmp_payloads.c - memory for the payloads of messages, counted. */
#include "rtmp_payloads.h"

long payloads;

uint8_t *count_alloc(void *memory, size_t size)
{
    (void)memory;
    payloads++;
    return malloc(size);
}

uint8_t *count_grow(uint8_t *payload, size_t size)
{
    return realloc(payload, size);
}

void count_release(uint8_t *payload)
{
    payloads--;
    free(payload);
}
