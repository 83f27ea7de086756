/* SPDX-License-Identifier: MIT */
/* nal.h - where payloads of H.264 and HEVC differ: [H264] RFC 6184, [HEVC] RFC 7798. */
#ifndef FORMAT_RTP_NAL_H
#define FORMAT_RTP_NAL_H

#include "av/codec.h"

enum {
    RTP_NAL_SLICE = 1,   /* some of a picture */
    RTP_NAL_KEY = 2,     /* of one that decoders can start at */
    RTP_NAL_SET = 4,     /* parameters: they are in the configuration */
    RTP_NAL_LEFT_OUT = 8, /* delimiters and fillers */
    RTP_NAL_BEGINS = 16, /* behind a slice it begins another frame */
    RTP_NAL_FIRST = 32,  /* nothing of a frame is in front of it */
    RTP_NAL_REFUSED = 64, /* packets that we do not read: with a decoding order of their own */
    RTP_NAL_NONE = 128,
};

struct rtp_nal {
    uint8_t head;        /* bytes of the header of a unit */
    uint8_t aggregate, fragment; /* types of packets: STAP-A and FU-A, AP and FU */
    uint8_t type_mask;   /* of the types above */
    uint8_t type_shift;
    uint8_t flags[64];   /* by type */
};

extern const struct rtp_nal rtp_nal_h264, rtp_nal_h265;

static inline uint8_t rtp_nal_type(const struct rtp_nal *nal, const uint8_t *unit)
{
    return unit[0] >> nal->type_shift & nal->type_mask;
}

#endif
