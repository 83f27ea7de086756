/* SPDX-License-Identifier: MIT */
/* av1.h - parses and builds AV1 decoder configurations.
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

/* Reads a leb128() value, [AV1] 4.10.5: at most 8 bytes, and the value fits into 32 bits. Sets
 * r->bad if it is longer. */
uint64_t av1_leb128(struct rd *r);

/* Builds the configuration from a sequence header OBU that has a header and a size. False: the OBU
 * is malformed. */
bool av1_record_build(struct wr *w, const uint8_t *obu, size_t size);

#endif
