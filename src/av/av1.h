/* SPDX-License-Identifier: MIT */
/* av1.h - what an AV1 decoder configuration says.
 *
 * [AV1] AV1 Bitstream & Decoding Process; [AV1-FF] AV1 Codec ISO Media File Format Binding.
 */
#ifndef AV_AV1_H
#define AV_AV1_H

#include "av/codec.h"

enum av1_obu { AV1_SEQUENCE_HEADER = 1, AV1_TEMPORAL_DELIMITER = 2 };

#endif
