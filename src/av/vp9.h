/* SPDX-License-Identifier: MIT */
/* vp9.h - what a VP9 decoder configuration says: a VPCodecConfigurationRecord, [VP9-FF] "VP Codec
 * ISO Media File Format Binding". It tells no size: key
 * frames do, [VP9] "VP9 Bitstream & Decoding Process Specification" 6.2. */
#ifndef AV_VP9_H
#define AV_VP9_H

#include "av/codec.h"
#include "base/wr.h"

/* Where the record begins: senders put it with or without the version and flags of its box. */
const uint8_t *vp9_record(const uint8_t *config, size_t size);

/* A record, with version and flags, of what a key frame says. False: it is none. The level is the
 * least for that size. */
bool vp9_record_build(struct wr *w, const uint8_t *frame, size_t size);

#endif
