/* SPDX-License-Identifier: MIT */
/* latm.h - reads the configuration of AAC in LATM: [AAC] ISO/IEC 14496-3, 1.7.3. */
#ifndef FORMAT_LATM_H
#define FORMAT_LATM_H

#include "av/aac.h"
#include "av/bits.h"

struct latm_config { /* a parsed StreamMuxConfig */
    uint8_t asc[AAC_ASC_MAX]; /* an AudioSpecificConfig */
    size_t asc_size;
    struct aac_config aac;
    unsigned frames;          /* in each element: 1 to 64 */
};

/* Parses a StreamMuxConfig. If `rest` is false it may end after the codec configuration.
 * ERR_UNSUPPORTED: several programs or layers, fixed frame sizes, or a channel layout of its own.
 * */
err_t latm_config_read(struct latm_config *c, struct bits *b, bool rest)
    __attribute__((warn_unused_result));

#endif
