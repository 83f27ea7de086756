/* SPDX-License-Identifier: MIT */
/* rtmp_payloads.h - memory for the payloads of messages, counted. */
#ifndef RTMP_PAYLOADS_H
#define RTMP_PAYLOADS_H

#include <stdint.h>
#include <stdlib.h>

extern long payloads; /* alive */

uint8_t *count_alloc(void *memory, size_t size);
uint8_t *count_grow(uint8_t *payload, size_t size);
void count_release(uint8_t *payload);

#endif
