/* SPDX-License-Identifier: MIT */
/* nal.h - what NAL units of H.264 and HEVC are, by their types; and the types of packets that RTP
 * has of them, [H264] RFC 6184, [HEVC] RFC 7798. */
#ifndef FORMAT_NAL_H
#define FORMAT_NAL_H

#include "av/codec.h"

enum {
    NAL_SLICE = 1,   /* some of a picture */
    NAL_KEY = 2,     /* of one that decoders can start at */
    NAL_SET = 4,     /* parameters: they are in the configuration */
    NAL_LEFT_OUT = 8, /* delimiters and fillers */
    NAL_BEGINS = 16, /* behind a slice it begins another frame */
    NAL_FIRST = 32,  /* nothing of a frame is in front of it */
    NAL_REFUSED = 64, /* packets that we do not read: with a decoding order of their own */
    NAL_NONE = 128,
};

struct nal_kind {
    uint8_t head;        /* bytes of the header of a unit */
    uint8_t aggregate, fragment; /* types of packets: STAP-A and FU-A, AP and FU */
    uint8_t type_mask;   /* of the types above */
    uint8_t type_shift;
    uint8_t flags[64];   /* by type */
};

extern const struct nal_kind nal_h264, nal_h265;

static inline uint8_t nal_type(const struct nal_kind *nal, const uint8_t *unit)
{
    return unit[0] >> nal->type_shift & nal->type_mask;
}

/* [H.264] 7.3.3: is that slice of a picture that needs no other? `size` > 0. */
bool nal_h264_is_intra(const uint8_t *unit, size_t size);
/* Of one that may need two others. */
bool nal_h264_is_b(const uint8_t *unit, size_t size);

#endif
