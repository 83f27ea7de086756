/* SPDX-License-Identifier: MIT */
/* latm.h - AAC in LATM: [AAC] ISO/IEC 14496-3, 1.7.3. */
#ifndef FORMAT_LATM_H
#define FORMAT_LATM_H

#include "av/aac.h"
#include "av/bits.h"

struct latm_config { /* what a StreamMuxConfig says */
    uint8_t asc[AAC_ASC_MAX]; /* an AudioSpecificConfig */
    size_t asc_size;
    struct aac_config aac;
    unsigned frames;          /* in each element: 1 to 64 */
};

/* Read one; what is in it behind the configuration of the coder need not be there where `rest` is
 * false. ERR_UNSUPPORTED: several programs or layers, frames of fixed sizes, its own channels. */
err_t latm_config_read(struct latm_config *c, struct bits *b, bool rest)
    __attribute__((warn_unused_result));

#endif
