/* SPDX-License-Identifier: MIT */
/* opus.h - Opus decoder configurations: the ID header, RFC 7845 section 5.1. */
#ifndef AV_OPUS_H
#define AV_OPUS_H

#include "av/codec.h"

enum { OPUS_HEAD = 19 };

/* Builds an ID header for 1 or 2 channels. */
void opus_head_build(uint8_t out[OPUS_HEAD], unsigned channels);

#endif
