/* SPDX-License-Identifier: MIT */
/* av1.h - what an AV1 decoder configuration says.
 *
 * [AV1] AV1 Bitstream & Decoding Process; [AV1-FF] AV1 Codec ISO Media File Format Binding.
 */
#ifndef AV_AV1_H
#define AV_AV1_H

#include "av/codec.h"
#include "base/rd.h"
#include "base/wr.h"

enum av1_obu { AV1_SEQUENCE_HEADER = 1, AV1_TEMPORAL_DELIMITER = 2, AV1_FRAME_HEADER = 3,
               AV1_FRAME = 6, AV1_TILE_LIST = 8, AV1_PADDING = 15 };

/* [AV1] 4.10.5: at most 8 bytes, and the value fits 32 bits. r->bad: it is longer. */
uint64_t av1_leb128(struct rd *r);

/* The configuration that a sequence header OBU, with its header and its size, says. False: it is
 * broken. */
bool av1_record_build(struct wr *w, const uint8_t *obu, size_t size);

#endif
