/* SPDX-License-Identifier: MIT */
/* nal.h - properties of the NAL unit types of H.264 and HEVC, and the packet types of their RTP
 * payload formats: [H264] RFC 6184, [HEVC] RFC 7798. */
#ifndef FORMAT_NAL_H
#define FORMAT_NAL_H

#include "av/codec.h"

enum {
    NAL_SLICE = 1,   /* a slice of a frame */
    NAL_KEY = 2,     /* a slice of a key frame */
    NAL_SET = 4,     /* a parameter set; belongs to the codec configuration */
    NAL_LEFT_OUT = 8, /* delimiters and filler data, dropped */
    NAL_BEGINS = 16, /* after a slice it starts the next frame */
    NAL_FIRST = 32,  /* always the first unit of a frame */
    NAL_REFUSED = 64, /* unsupported packets: with decoding order numbers */
    NAL_NONE = 128,
};

struct nal_kind {
    uint8_t head;        /* size of a unit's header in bytes */
    uint8_t aggregate, fragment; /* packet types: STAP-A and FU-A, or AP and FU */
    uint8_t type_mask;   /* mask of the unit type */
    uint8_t type_shift;
    uint8_t flags[64];   /* indexed by unit type */
};

extern const struct nal_kind nal_h264, nal_h265;

static inline uint8_t nal_type(const struct nal_kind *nal, const uint8_t *unit)
{
    return unit[0] >> nal->type_shift & nal->type_mask;
}

/* Checks whether the slice is of an I frame, [H.264] 7.3.3. `size` > 0. */
bool nal_h264_is_intra(const uint8_t *unit, size_t size);
/* Checks whether the slice is of a B frame. `size` > 0. */
bool nal_h264_is_b(const uint8_t *unit, size_t size);

#endif
