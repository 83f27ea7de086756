/* SPDX-License-Identifier: MIT */
/* codecs.c - the codecs of MPEG-TS: their stream types and descriptors, and the bytes that TS needs
 * before their frames. */
#include "format/ts/codecs.h"

#include "av/mp3.h"
#include "av/nalu.h"
#include "format/ts/pes.h"

#include <string.h>

enum { SETS_MAX = 64 * 1024 };

static void put_set(void *sets, const uint8_t *unit, size_t size)
{
    wr_u32(sets, 1);
    wr_bytes(sets, unit, size);
}

/* Stores the parameter sets, which precede each key frame. */
static err_t take_sets(struct ts_mux *m, const struct frame *f)
{
    struct wr sets;
    err_t err;

    wr_init(&sets, SETS_MAX);
    err = av_codec_row(f->codec)->nalu->sets(f->data, f->size, &m->nalu_length, put_set, &sets);
    if (err) {
        wr_free(&sets);
        return err;
    }
    wr_free(&m->sets);
    m->sets = sets;
    return NULL;
}

static size_t hevc_descriptors(const struct ts_mux *m, uint8_t out[TS_DESCRIPTORS_MAX])
{
    (void)m;
    memcpy(out, "\x05\x04HEVC", 6);
    return 6;
}

static err_t aac_configure(struct ts_mux *m, const struct frame *f)
{
    err_t err = aac_asc_parse(&m->aac, f->data, f->size);

    m->has_aac = err == NULL;
    return err;
}

static err_t aac_head(struct ts_mux *m, const struct frame *f, uint8_t out[TS_HEAD_MAX], size_t *n)
{
    if (!m->has_aac)
        return err_new(ERR_CODEC, "AAC before its configuration");
    m->rate = m->aac.core_rate; /* the codec may have changed since it was configured */
    *n = AAC_ADTS_HEADER;
    return aac_adts_build(out, &m->aac, f->size);
}

/* [TS] 2-34: the type depends on whether the sample rate is halved. */
static err_t mp3_type(const struct frame *f, uint8_t *type)
{
    struct mp3_frame mp3;
    err_t err = mp3_frame_parse(&mp3, f->data, f->size);

    if (!err && mp3.rate < 32000)
        *type = 0x04;
    return err;
}

static err_t opus_configure(struct ts_mux *m, const struct frame *f)
{
    struct av_info info;
    err_t err = av_info_parse(&info, f->codec, f->data, f->size);

    if (!err && m->opus_channels != info.channels) {
        m->opus_channels = (uint8_t)info.channels;
        ts_tables_build(m);
    }
    return err;
}

/* [Opus-TS] opus_control_header(), with neither trimming nor extension. */
static err_t opus_head(struct ts_mux *m, const struct frame *f, uint8_t out[TS_HEAD_MAX],
                       size_t *n)
{
    size_t left = f->size;

    (void)m;
    out[0] = 0x7f;
    out[1] = 0xe0;
    for (*n = 2; left >= 255; left -= 255)
        out[(*n)++] = 255;
    out[(*n)++] = (uint8_t)left;
    return NULL;
}

/* Writes the registration and extension descriptors. */
static size_t opus_descriptors(const struct ts_mux *m, uint8_t out[TS_DESCRIPTORS_MAX])
{
    memcpy(out, "\x05\x04Opus\x7f\x02\x80", 9);
    out[9] = m->opus_channels;
    return 10;
}

static const struct ts_codec codecs[AV_CODECS] = {
    [AV_H264] = { .type = 0x1b, .id = 0xe0, .configure = take_sets },
    [AV_H265] = { .type = 0x24, .id = 0xe0, .configure = take_sets,
                  .descriptors = hevc_descriptors },
    [AV_AAC] = { .type = 0x0f, .id = 0xc0, .configure = aac_configure, .head = aac_head },
    [AV_MP3] = { .type = 0x03, .id = 0xc0, .type_of = mp3_type },
    [AV_OPUS] = { .type = 0x06, .id = 0xbd, .configure = opus_configure, .head = opus_head,
                  .descriptors = opus_descriptors },
};

const struct ts_codec *ts_codec(enum av_codec codec)
{
    return (unsigned)codec < AV_CODECS && codecs[codec].type ? &codecs[codec] : NULL;
}
