/* SPDX-License-Identifier: MIT */
/* vp9.h - what a VP9 decoder configuration says: a VPCodecConfigurationRecord, [VP9-FF] "VP Codec
 * ISO Media File Format Binding". It tells no size. */
#ifndef AV_VP9_H
#define AV_VP9_H

#include "av/codec.h"

err_t vp9_config_parse(struct av_info *info, const uint8_t *config, size_t size)
    __attribute__((warn_unused_result));

#endif
