/* SPDX-License-Identifier: MIT */
/* codecs.h - table of the codecs that MPEG-TS can carry. Private to format/ts. */
#ifndef FORMAT_TS_CODECS_H
#define FORMAT_TS_CODECS_H

#include "format/ts/mux.h"

enum {
    TS_AUDIO_MAX = 60000,   /* bytes of audio frames in one PES packet */
    TS_HEAD_MAX = 2 + TS_AUDIO_MAX / 2 / 255 + 1,
    TS_DESCRIPTORS_MAX = 10,
};

struct ts_codec {
    uint8_t type; /* stream_type, [TS] table 2-34 */
    uint8_t id;   /* stream_id, [TS] table 2-22 */
    /* Chooses the stream_type from the first frame; NULL: always `type`. */
    err_t (*type_of)(const struct frame *f, uint8_t *type);
    /* Reads a codec configuration; NULL: the muxer does not need it. */
    err_t (*configure)(struct ts_mux *m, const struct frame *f);
    /* Writes the header in front of an audio frame of at most TS_AUDIO_MAX / 2 bytes. */
    err_t (*head)(struct ts_mux *m, const struct frame *f, uint8_t out[TS_HEAD_MAX], size_t *n);
    /* Writes the descriptors for the PMT; returns their size in bytes. */
    size_t (*descriptors)(const struct ts_mux *m, uint8_t out[TS_DESCRIPTORS_MAX]);
};

const struct ts_codec *ts_codec(enum av_codec codec); /* NULL: TS cannot carry it */

#endif
