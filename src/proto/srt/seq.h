/* SPDX-License-Identifier: MIT */
/* seq.h - sequence numbers of 31 bits, which wrap: compared by their signed distance. */
#ifndef PROTO_SRT_SEQ_H
#define PROTO_SRT_SEQ_H

#include <stdint.h>

#define SRT_SEQ_MASK 0x7fffffffu

static inline uint32_t srt_seq_add(uint32_t seq, int64_t n)
{
    return (uint32_t)((int64_t)seq + n) & SRT_SEQ_MASK;
}

/* How far b is ahead of a: negative if it is behind. */
static inline int32_t srt_seq_distance(uint32_t a, uint32_t b)
{
    return (int32_t)((b - a) << 1) >> 1;
}

#endif
