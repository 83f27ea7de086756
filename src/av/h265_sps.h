/* SPDX-License-Identifier: MIT */
/* h265_sps.h - the H.265 sequence parameter set, for av/h265.c. */
#ifndef AV_H265_SPS_H
#define AV_H265_SPS_H

#include "av/codec.h"

void h265_name_profile(struct av_info *info, uint8_t profile, uint8_t level);

#endif
