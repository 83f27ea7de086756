/* SPDX-License-Identifier: MIT */
/* h265.h - parses and builds H.265 decoder configurations.
 *
 * [H.265] ITU-T H.265; [AVC-FF] ISO/IEC 14496-15 section 8.
 */
#ifndef AV_H265_H
#define AV_H265_H

#include "av/codec.h"

enum h265_nalu { H265_BLA_W_LP = 16, H265_CRA = 21, H265_VPS = 32, H265_SPS = 33, H265_PPS = 34,
                 H265_AUD = 35, H265_PREFIX_SEI = 39, H265_SUFFIX_SEI = 40 };

static inline int h265_nalu_type(uint8_t first) { return first >> 1 & 0x3f; }

/* An iterator over the NAL units of an HEVCDecoderConfigurationRecord, array by array. */
struct h265_sets {
    const uint8_t *p, *end;
    unsigned arrays, units; /* still to read: arrays after this one, units in this one */
    uint8_t type;           /* NAL_unit_type of this array */
};

struct h265_config {
    uint8_t profile, tier;
    uint8_t level;       /* 30 times the level number */
    uint8_t nalu_length; /* 1, 2 or 4 */
    double fps;          /* avgFrameRate; 0: not known */
    struct h265_sets sets;
};

/* Parses a record and checks all of it, so that iterating over its sets cannot fail. */
err_t h265_record_parse(struct h265_config *c, const uint8_t *config, size_t size)
    __attribute__((warn_unused_result));
/* Gives the next unit; false at the end. s->type is the type of its array. */
bool h265_sets_next(struct h265_sets *s, const uint8_t **unit, size_t *size);

/* Parses one SPS, which starts with its NAL unit header of 2 bytes. */
err_t h265_sps_parse(struct av_info *info, const uint8_t *sps, size_t size)
    __attribute__((warn_unused_result));

#endif
