/* SPDX-License-Identifier: MIT */
/* be.h - big-endian numbers in memory. Writers return the position after the number. */
#ifndef BASE_BE_H
#define BASE_BE_H

#include <stdint.h>

static inline uint16_t be_get16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t be_get24(const uint8_t *p)
{
    return (uint32_t)p[0] << 16 | be_get16(p + 1);
}

static inline uint32_t be_get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | be_get24(p + 1);
}

static inline uint8_t *be_put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
    return p + 2;
}

static inline uint8_t *be_put24(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 16);
    return be_put16(p + 1, v);
}

static inline uint8_t *be_put32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    return be_put24(p + 1, v);
}

#endif
