/* SPDX-License-Identifier: MIT */
/* h264.h - parses and builds H.264 decoder configurations.
 *
 * [H.264] ITU-T H.264; [AVC-FF] ISO/IEC 14496-15 section 5.
 */
#ifndef AV_H264_H
#define AV_H264_H

#include "av/codec.h"

struct bits;

enum h264_nalu { H264_SLICE = 1, H264_IDR = 5, H264_SEI = 6, H264_SPS = 7, H264_PPS = 8,
                 H264_AUD = 9, H264_FILLER = 12 };

/* An AVCDecoderConfigurationRecord; pointers are into it. Each parameter set has a 2-byte length.
 * */
struct h264_config {
    uint8_t profile, compatibility, level;
    uint8_t nalu_length; /* 1, 2 or 4 */
    uint8_t sps_count, pps_count;
    const uint8_t *sps, *pps; /* the first set's length; NULL if there is none */
};

/* Parses one SPS, which starts with its NAL unit header byte. */
err_t h264_sps_parse(struct av_info *info, const uint8_t *sps, size_t size)
    __attribute__((warn_unused_result));

/* Skips the start of a VUI, which H.264 and H.265 have in common: the display fields, [H.264] E.1.1
 * and [H.265] E.2.1 up to chroma_sample_loc_type. Errors set b->bad. */
void h264_vui_skip_display(struct bits *b);
/* Reads the timing fields that follow; sets *fps if they contain a rate. A frame lasts `ticks`
 * units. False: there are no timing fields. */
bool h264_vui_rate(struct bits *b, int ticks, double *fps);

#endif
