/* SPDX-License-Identifier: MIT */
/* put.h - big-endian numbers into a packet: for the writers of this folder. */
#ifndef PROTO_SRT_PUT_H
#define PROTO_SRT_PUT_H

#include <stdint.h>

static inline void srt_put16(uint8_t *out, unsigned v)
{
    out[0] = (uint8_t)(v >> 8);
    out[1] = (uint8_t)v;
}

static inline void srt_put32(uint8_t *out, uint32_t v)
{
    srt_put16(out, v >> 16);
    srt_put16(out + 2, v & 0xffff);
}

#endif
