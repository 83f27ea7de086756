/* SPDX-License-Identifier: MIT */
/* demux_audio_frames.c - finds frames of AAC in ADTS and LATM, of MP3 and of Opus in the payloads
 * of PES packets. */
#include "av/mp3.h"
#include "base/rd.h"
#include "format/ts/demux_impl.h"

#include <string.h>

enum { AAC_SAMPLES = 1024, LOAS_HEAD = 3, MP3_HEAD = 4, OPUS_RATE = 48000 };

/* ---- ADTS, [AAC] 1.A.2 */

static bool is_adts(const uint8_t *p)
{
    struct aac_adts h;

    return aac_adts_parse(&h, p);
}

static enum ts_found find_adts(struct ts_es *es, const uint8_t *p, size_t size,
                               struct ts_audio_frame *s)
{
    struct aac_adts h;

    (void)es;
    if (!aac_adts_parse(&h, p))
        return TS_NONE;
    if (h.size > size)
        return TS_MORE;
    s->total = h.size;
    s->samples = AAC_SAMPLES * h.blocks;
    s->rate = h.config.core_rate;
    if (h.blocks > 1 || h.config.channel_config == 0 || h.size == h.head)
        return TS_SKIP; /* the channels are in its first block */
    s->data = p + h.head;
    s->size = h.size - h.head;
    s->config_size = aac_asc_build(s->config, &h.config);
    return TS_FOUND;
}

const struct ts_audio ts_adts_audio = { .header = AAC_ADTS_HEADER, .is_header = is_adts,
                                        .find = find_adts };

/* ---- LATM, [AAC] 1.7.2: AudioSyncStream */

static bool is_loas(const uint8_t *p)
{
    return p[0] == 0x56 && (p[1] & 0xe0) == 0xe0;
}

/* Copies a frame that may start at any bit. False: it is incomplete. */
static bool copy_bits(struct ts_es *es, struct bits *b, size_t size)
{
    wr_clear(&es->scratch);
    for (size_t i = 0; i < size && !b->bad; i++)
        wr_u8(&es->scratch, (uint8_t)bits_u(b, 8));
    return !b->bad && !es->scratch.bad;
}

static bool read_element(struct ts_es *es, struct bits *b, struct ts_audio_frame *s)
{
    struct latm_config c;
    size_t size = 0;
    uint32_t byte;
    err_t err;

    if (!bits_flag(b)) { /* useSameStreamMux */
        err = latm_config_read(&c, b, true);
        es->latm.known = !err && c.frames == 1;
        es->latm.aac = c.aac;
        err_free(&err);
    }
    if (!es->latm.known)
        return false;
    do { /* PayloadLengthInfo */
        byte = bits_u(b, 8);
        size += byte;
    } while (byte == 255 && !b->bad);
    if (size == 0 || !copy_bits(es, b, size))
        return false;
    s->data = es->scratch.buf;
    s->size = size;
    return true;
}

static enum ts_found find_latm(struct ts_es *es, const uint8_t *p, size_t size,
                               struct ts_audio_frame *s)
{
    size_t length = (p[1] & 0x1fu) << 8 | p[2];
    struct bits b = bits_init(p + LOAS_HEAD, length);

    if (LOAS_HEAD + length > size)
        return TS_MORE;
    s->total = LOAS_HEAD + length;
    s->samples = AAC_SAMPLES;
    if (!read_element(es, &b, s))
        return TS_SKIP;
    s->rate = es->latm.aac.core_rate;
    s->config_size = aac_asc_build(s->config, &es->latm.aac);
    return TS_FOUND;
}

const struct ts_audio ts_latm_audio = { .header = LOAS_HEAD, .is_header = is_loas,
                                        .find = find_latm };

/* ---- MP3 */

static bool parse_mp3(struct mp3_frame *f, const uint8_t *p)
{
    err_t err;

    if (p[0] != 0xff || p[1] < 0xe0) /* most bytes are not a header: avoids an error for each */
        return false;
    err = mp3_frame_parse(f, p, MP3_HEAD);
    if (err) {
        err_free(&err);
        return false;
    }
    return f->size > MP3_HEAD;
}

static bool is_mp3(const uint8_t *p)
{
    struct mp3_frame f;

    return parse_mp3(&f, p);
}

static enum ts_found find_mp3(struct ts_es *es, const uint8_t *p, size_t size,
                              struct ts_audio_frame *s)
{
    struct ts_demux *d = es->demux;
    struct mp3_frame f;

    if (!parse_mp3(&f, p))
        return TS_NONE;
    if (f.size > size)
        return TS_MORE;
    s->total = f.size;
    s->samples = f.samples;
    s->rate = f.rate;
    if (f.layer != 3) {
        ts_tell(d, TS_NOTE_TYPE, &(struct ts_told){ .pid = es->pid, .type = es->type,
            .name = f.layer == 2 ? "MP2" : "MPEG audio layer 1" });
        return TS_SKIP;
    }
    s->data = p;
    s->size = f.size;
    return TS_FOUND;
}

const struct ts_audio ts_mp3_audio = { .header = MP3_HEAD, .is_header = is_mp3, .find = find_mp3 };

/* ---- Opus, [Opus-TS] "Opus in MPEG-TS", 3: opus_access_unit() */

static enum ts_found find_opus(struct ts_es *es, const uint8_t *p, size_t size,
                               struct ts_audio_frame *s)
{
    struct rd r = rd_init(p, size);
    unsigned head = rd_u16(&r);
    size_t length = 0;
    uint8_t byte;

    (void)es;
    if (head >> 5 != 0x3ff)
        return TS_NONE;
    do {
        byte = rd_u8(&r);
        length += byte;
    } while (byte == 255);
    (void)rd_take(&r, (head & 0x10 ? 2u : 0u) + (head & 0x08 ? 2u : 0u)); /* trims */
    if (head & 0x04) /* control_extension_flag */
        (void)rd_take(&r, rd_u8(&r));
    s->data = rd_take(&r, length);
    if (!s->data)
        return TS_MORE;
    s->size = length;
    s->total = size - rd_left(&r);
    s->samples = av_codec_samples(AV_OPUS, s->data, s->size, &s->rate);
    return s->samples > 0 ? TS_FOUND : TS_SKIP;
}

const struct ts_audio ts_opus_audio = { .header = 2, .aligned = true, .find = find_opus };
