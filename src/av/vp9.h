/* SPDX-License-Identifier: MIT */
/* vp9.h - VP9 decoder configurations: VPCodecConfigurationRecord, [VP9-FF] "VP Codec ISO Media File
 * Format Binding". The record does not contain the frame size; key frames do, [VP9] "VP9 Bitstream
 * & Decoding Process Specification" 6.2. */
#ifndef AV_VP9_H
#define AV_VP9_H

#include "av/codec.h"
#include "base/wr.h"

/* Returns the start of the record: some senders include the version and flags of its box, others do
 * not. */
const uint8_t *vp9_record(const uint8_t *config, size_t size);

/* Builds a record, with version and flags, from a key frame. False: it is not a key frame. The
 * level is the lowest one for that frame size. */
bool vp9_record_build(struct wr *w, const uint8_t *frame, size_t size);

#endif
