/* SPDX-License-Identifier: MIT */
/* codec.c - the codec table. */
#include "av/codec.h"

#include <string.h>

static const struct av_codec_row none = { .name = "unknown", .kind = AV_DATA };

static const struct av_codec_row *const rows[AV_CODECS] = {
    [AV_CODEC_NONE] = &none,
#define X(codec, row) [AV_##codec] = &row##_codec,
    AV_CODEC_LIST(X)
#undef X
};

const struct av_codec_row *av_codec_row(enum av_codec codec)
{
    return rows[(unsigned)codec < AV_CODECS ? codec : AV_CODEC_NONE];
}

enum av_codec av_codec_of_fourcc(enum av_kind kind, const uint8_t *fourcc)
{
    for (int c = AV_CODEC_NONE + 1; c < AV_CODECS; c++) {
        const struct av_codec_flv *flv = &rows[c]->flv;

        for (int i = 0; rows[c]->kind == kind && i < 2; i++) {
            if (flv->fourcc[i][0] && memcmp(flv->fourcc[i], fourcc, 4) == 0)
                return (enum av_codec)c;
        }
    }
    return AV_CODEC_NONE;
}

enum av_codec av_codec_of_flv(enum av_kind kind, unsigned id)
{
    for (int c = AV_CODEC_NONE + 1; c < AV_CODECS && id > 0; c++) {
        const uint8_t *ids = rows[c]->flv.ids;

        if (rows[c]->kind == kind && (ids[0] == id || ids[1] == id))
            return (enum av_codec)c;
    }
    return AV_CODEC_NONE;
}

bool av_codec_frames_configure(enum av_codec codec)
{
    const struct av_codec_row *row = av_codec_row(codec);

    return row->frame_config > 0 || row->key_size;
}

uint32_t av_codec_samples(enum av_codec codec, const uint8_t *frame, size_t size, uint32_t *rate)
{
    const struct av_codec_row *row = av_codec_row(codec);

    return row->samples ? row->samples(frame, size, rate) : 0;
}

const char *av_codec_list_name(enum av_codec codec, const uint8_t *config, size_t size, char *out,
                               size_t room)
{
    const struct av_codec_row *row = av_codec_row(codec);

    out[0] = '\0';
    if (row->list_name)
        row->list_name(out, room, config, size);
    return out;
}

err_t av_info_parse(struct av_info *info, enum av_codec codec, const uint8_t *config, size_t size)
{
    const struct av_codec_row *row = av_codec_row(codec);
    err_t err;

    *info = (struct av_info){ 0 };
    if (!row->parse)
        return NULL;
    err = row->parse(info, config, size);
    if (err)
        return err_wrap(err, "%s configuration of %zu bytes", row->name, size);
    if (info->coded_rate == 0)
        info->coded_rate = info->sample_rate;
    return NULL;
}
