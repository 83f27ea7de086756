/* SPDX-License-Identifier: MIT */
/* opus.h - what an Opus decoder configuration says: an ID header, RFC 7845 section 5.1. */
#ifndef AV_OPUS_H
#define AV_OPUS_H

#include "av/codec.h"

err_t opus_config_parse(struct av_info *info, const uint8_t *config, size_t size)
    __attribute__((warn_unused_result));

#endif
