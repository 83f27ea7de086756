/* SPDX-License-Identifier: MIT */
/* h265_sps.h - the H.265 sequence parameter set, for av/h265.c. */
#ifndef AV_H265_SPS_H
#define AV_H265_SPS_H

#include "av/codec.h"

void h265_name_profile(struct av_info *info, uint8_t profile, uint8_t level);

/* What a record has of an SPS, [AVC-FF] 8.3.3.1.2. */
struct h265_sps_head {
    uint8_t profile[12]; /* from general_profile_space to general_level_idc, as they stand */
    uint8_t sub_layers;  /* sps_max_sub_layers_minus1 */
    bool nested;         /* sps_temporal_id_nesting_flag */
    uint8_t chroma, luma_depth, chroma_depth; /* chroma_format_idc; bits - 8 */
};

/* False: it is too short for that, or no SPS. */
bool h265_sps_head(struct h265_sps_head *h, const uint8_t *sps, size_t size);

#endif
