/* SPDX-License-Identifier: MIT */
/* codecs.h - the codecs that go into MPEG-TS, a row each; for the files of format/ts alone. */
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
    /* Another stream_type by what the first frame says; NULL: it is that. */
    err_t (*type_of)(const struct frame *f, uint8_t *type);
    /* Take a configuration; NULL: there is nothing to take of it. */
    err_t (*configure)(struct ts_mux *m, const struct frame *f);
    /* Make what goes in front of an audio frame of at most TS_AUDIO_MAX / 2 bytes. */
    err_t (*head)(struct ts_mux *m, const struct frame *f, uint8_t out[TS_HEAD_MAX], size_t *n);
    /* Descriptors in the PMT; how many bytes. */
    size_t (*descriptors)(const struct ts_mux *m, uint8_t out[TS_DESCRIPTORS_MAX]);
};

const struct ts_codec *ts_codec(enum av_codec codec); /* NULL: TS has no place for it */

#endif
