/* SPDX-License-Identifier: MIT */
/* vp9.h - what a VP9 decoder configuration says: a VPCodecConfigurationRecord, [VP9-FF] "VP Codec
 * ISO Media File Format Binding". It tells no size: key
 * frames do, [VP9] "VP9 Bitstream & Decoding Process Specification" 6.2. */
#ifndef AV_VP9_H
#define AV_VP9_H

#include "av/codec.h"

err_t vp9_config_parse(struct av_info *info, const uint8_t *config, size_t size)
    __attribute__((warn_unused_result));

/* Where the record begins: senders put it with or without the version and flags of its box. */
const uint8_t *vp9_record(const uint8_t *config, size_t size);

/* The size of the picture, from a key frame. False: it is none, or broken. */
bool vp9_key_size(const uint8_t *frame, size_t size, uint32_t *width, uint32_t *height);

#endif
