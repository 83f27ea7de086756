/* SPDX-License-Identifier: MIT */
/* mp3.h - MPEG audio frame headers, [MP3] ISO/IEC 11172-3 section 2.4.1.3 and 13818-3. */
#ifndef AV_MP3_H
#define AV_MP3_H

#include "av/codec.h"

struct mp3_frame {
    uint8_t layer;     /* 1, 2, 3 */
    uint8_t channels;
    uint32_t rate;     /* Hz */
    uint32_t bit_rate; /* bit/s; 0: free */
    uint32_t samples;  /* per frame */
    uint32_t size;     /* bytes, header included; 0 when the bit rate is free */
};

err_t mp3_frame_parse(struct mp3_frame *f, const uint8_t *data, size_t size)
    __attribute__((warn_unused_result));

#endif
