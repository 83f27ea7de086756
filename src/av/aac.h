/* SPDX-License-Identifier: MIT */
/* aac.h - AAC: its decoder configuration and ADTS headers.
 *
 * [AAC] ISO/IEC 14496-3: AudioSpecificConfig in 1.6.2.1, ADTS in 1.A.2.
 */
#ifndef AV_AAC_H
#define AV_AAC_H

#include "av/codec.h"

enum { AAC_ADTS_HEADER = 7 };

struct aac_config { /* an AudioSpecificConfig */
    uint8_t object;      /* audio object type of the core: 2 is LC */
    uint8_t extension;   /* 5: SBR, 29: PS, 0: none */
    uint8_t rate_index;  /* the core's rate; 15: an explicit rate */
    uint8_t channel_config; /* as written; 0: see the program config element */
    uint32_t core_rate;  /* Hz */
    uint32_t rate;       /* Hz after the extension */
    uint32_t channels;
    size_t bits;         /* its length, without the extension at its end */
};

struct aac_adts { /* an ADTS header */
    struct aac_config config; /* coder settings in the header */
    uint8_t head;        /* bytes of the header: 7 or 9 */
    uint8_t blocks;      /* raw data blocks in the frame: 1 to 4 */
    uint32_t size;       /* bytes of the frame, header included; >= head */
};

err_t aac_asc_parse(struct aac_config *c, const uint8_t *asc, size_t size)
    __attribute__((warn_unused_result));
/* Writes a configuration of the core only; returns its size in bytes. Not for channels in a program
 * config element, and not for object types over 30. */
enum { AAC_ASC_MAX = 8 };
size_t aac_asc_build(uint8_t out[AAC_ASC_MAX], const struct aac_config *c);
/* Parses a frame header; false if it is none. */
bool aac_adts_parse(struct aac_adts *h, const uint8_t data[AAC_ADTS_HEADER]);
/* Builds the header for a raw frame. ERR_CODEC: ADTS cannot express this configuration or size. */
err_t aac_adts_build(uint8_t out[AAC_ADTS_HEADER], const struct aac_config *c, size_t payload)
    __attribute__((warn_unused_result));

#endif
