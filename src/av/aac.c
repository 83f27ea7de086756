/* SPDX-License-Identifier: MIT */
/* aac.c - AAC: its decoder configuration and ADTS headers. */
#include "av/aac.h"

#include "av/bits.h"
#include "base/rd.h"

#include <stdio.h>

enum { SBR = 5, PS = 29, EXPLICIT_RATE = 15, ADTS_FRAME_MAX = 0x1fff };

static const uint32_t rates[] = { 96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050,
                                  16000, 12000, 11025, 8000, 7350 };
static const uint8_t channels[] = { 0, 1, 2, 3, 4, 5, 6, 8, 0, 0, 0, 7, 8, 24, 8 };

static uint8_t object_type(struct bits *b)
{
    uint32_t type = bits_u(b, 5);

    return (uint8_t)(type == 31 ? 32 + bits_u(b, 6) : type);
}

static uint32_t rate(struct bits *b, uint8_t *index)
{
    *index = (uint8_t)bits_u(b, 4);
    if (*index == EXPLICIT_RATE)
        return bits_u(b, 24);
    return *index < sizeof(rates) / sizeof(rates[0]) ? rates[*index] : 0;
}

/* Returns the number of channels of a program_config_element(), [AAC] 4.4.1.1. */
static uint32_t program_channels(struct bits *b)
{
    uint32_t n[4], count = 0;

    bits_skip(b, 4 + 2 + 4); /* tag, object type, rate index */
    for (int i = 0; i < 3; i++)
        n[i] = bits_u(b, 4); /* front, side, back */
    n[3] = bits_u(b, 2);     /* lfe */
    bits_skip(b, 3 + 4);     /* associated data, coupling */
    for (int i = 0; i < 3; i++) { /* mono, stereo, matrix mixdown */
        if (bits_flag(b))
            bits_skip(b, i < 2 ? 4 : 3);
    }
    for (int i = 0; i < 3; i++) {
        for (uint32_t k = 0; k < n[i]; k++) {
            count += bits_flag(b) ? 2 : 1;
            bits_skip(b, 4);
        }
    }
    return count + n[3];
}

/* [AAC] 4.4.1, up to a program config element. */
static uint32_t general_audio(struct bits *b, const struct aac_config *c)
{
    bits_skip(b, 1); /* frameLengthFlag */
    if (bits_flag(b))
        bits_skip(b, 14); /* coreCoderDelay */
    bits_skip(b, 1);      /* extensionFlag */
    if (c->channel_config == 0 && !b->bad)
        return program_channels(b);
    return c->channel_config < sizeof(channels) ? channels[c->channel_config] : 0;
}

static bool is_general_audio(uint8_t object)
{
    return (object >= 1 && object <= 4) || object == 6 || object == 7 || object == 17 ||
           (object >= 19 && object <= 23);
}

/* [AAC] 1.6.2.1: "backward compatible" signalling of SBR and PS after the rest. */
static void sync_extension(struct aac_config *c, struct bits *b)
{
    uint8_t index;
    uint32_t ext_rate;

    if (bits_u(b, 11) != 0x2b7 || object_type(b) != SBR || !bits_flag(b))
        return;
    ext_rate = rate(b, &index);
    if (b->bad || ext_rate == 0)
        return;
    c->extension = SBR;
    c->rate = ext_rate;
    if (bits_u(b, 11) == 0x548 && bits_flag(b))
        c->extension = PS;
}

err_t aac_asc_parse(struct aac_config *c, const uint8_t *asc, size_t size)
{
    struct bits b = bits_init(asc, size);
    uint8_t index;
    err_t err;

    *c = (struct aac_config){ .object = object_type(&b) };
    c->core_rate = c->rate = rate(&b, &c->rate_index);
    c->channel_config = (uint8_t)bits_u(&b, 4);
    if (c->object == SBR || c->object == PS) {
        c->extension = c->object;
        c->rate = rate(&b, &index);
        c->object = object_type(&b);
    }
    c->channels = c->channel_config < sizeof(channels) ? channels[c->channel_config] : 0;
    err = bits_err(&b, "AudioSpecificConfig");
    if (err)
        return err;
    if (c->object == 0)
        return err_new(ERR_CODEC, "AAC object type 0");
    if (c->rate == 0 || c->core_rate == 0)
        return err_new(ERR_CODEC, "AAC without a sample rate");
    if (!is_general_audio(c->object))
        return NULL;
    if (c->channel_config == 0) {
        c->channels = general_audio(&b, c);
        c->bits = bits_read(&b, asc);
        return bits_err(&b, "AAC program config element");
    }
    (void)general_audio(&b, c); /* some encoders end here: there is no extension */
    c->bits = bits_read(&b, asc);
    if (c->extension == 0)
        sync_extension(c, &b);
    if (c->extension == PS && c->channels == 1)
        c->channels = 2;
    return NULL;
}

size_t aac_asc_build(uint8_t out[AAC_ASC_MAX], const struct aac_config *c)
{
    uint64_t v = 0;
    unsigned bits = 0;
    bool explicit_rate = c->rate_index == EXPLICIT_RATE;

#define PUT(value, n) (v = v << (n) | (value), bits += (n))
    PUT((uint64_t)c->object, 5);
    PUT((uint64_t)c->rate_index, 4);
    if (explicit_rate)
        PUT((uint64_t)c->core_rate, 24);
    PUT((uint64_t)c->channel_config, 4);
    PUT(0u, 3); /* frames of 1024, no core coder, no extension */
#undef PUT
    v <<= (8 - bits % 8) % 8;
    bits = (bits + 7) / 8;
    for (unsigned i = 0; i < bits; i++)
        out[i] = (uint8_t)(v >> 8 * (bits - 1 - i));
    return bits;
}

bool aac_adts_parse(struct aac_adts *h, const uint8_t data[AAC_ADTS_HEADER])
{
    struct aac_config *c = &h->config;

    *h = (struct aac_adts){ 0 };
    if (data[0] != 0xff || (data[1] & 0xf6) != 0xf0) /* the layer is 0 */
        return false;
    c->object = (uint8_t)(1 + (data[2] >> 6));
    c->rate_index = data[2] >> 2 & 0x0f;
    c->channel_config = (uint8_t)((data[2] & 1) << 2 | data[3] >> 6);
    if (c->rate_index >= sizeof(rates) / sizeof(rates[0]))
        return false;
    c->rate = c->core_rate = rates[c->rate_index];
    c->channels = channels[c->channel_config];
    h->head = data[1] & 1 ? AAC_ADTS_HEADER : AAC_ADTS_HEADER + 2;
    h->size = (data[3] & 3u) << 11 | (unsigned)data[4] << 3 | data[5] >> 5;
    h->blocks = (uint8_t)(1 + (data[6] & 3));
    return h->size >= h->head;
}

err_t aac_adts_build(uint8_t out[AAC_ADTS_HEADER], const struct aac_config *c, size_t payload)
{
    size_t frame = payload + AAC_ADTS_HEADER;

    if (c->object < 1 || c->object > 4 || c->rate_index >= sizeof(rates) / sizeof(rates[0]) ||
        c->channel_config > 7)
        return err_new(ERR_CODEC, "ADTS cannot say object type %d, rate index %d, channels %d",
                       c->object, c->rate_index, c->channel_config);
    if (payload > ADTS_FRAME_MAX - AAC_ADTS_HEADER)
        return err_new(ERR_CODEC, "an AAC frame of %zu bytes does not fit ADTS", payload);
    out[0] = 0xff;
    out[1] = 0xf1; /* MPEG-4, no CRC */
    out[2] = (uint8_t)((c->object - 1) << 6 | c->rate_index << 2 | c->channel_config >> 2);
    out[3] = (uint8_t)((c->channel_config & 3) << 6 | frame >> 11);
    out[4] = (uint8_t)(frame >> 3);
    out[5] = (uint8_t)((frame & 7) << 5 | 0x1f);
    out[6] = 0xfc;
    return NULL;
}

static const char *profile_name(const struct aac_config *c)
{
    static const char *const names[] = { NULL, "Main", "LC", "SSR", "LTP" };

    if (c->extension == PS)
        return "HEv2";
    if (c->extension == SBR)
        return "HE";
    if (c->object < sizeof(names) / sizeof(names[0]))
        return names[c->object];
    return c->object == 23 ? "LD" : c->object == 39 ? "ELD" : c->object == 42 ? "xHE" : NULL;
}

static err_t parse(struct av_info *info, const uint8_t *config, size_t size)
{
    struct aac_config c;
    const char *name;
    err_t err;

    err = aac_asc_parse(&c, config, size);
    if (err)
        return err;
    name = profile_name(&c);
    if (name)
        snprintf(info->profile, sizeof(info->profile), "%s", name);
    else
        snprintf(info->profile, sizeof(info->profile), "%d", c.object);
    info->sample_rate = c.rate;
    info->coded_rate = c.core_rate;
    info->channels = c.channels;
    return NULL;
}

static void list_name(char *out, size_t room, const uint8_t *config, size_t size)
{
    struct aac_config c;
    err_t err = aac_asc_parse(&c, config, size);

    (void)snprintf(out, room, "mp4a.40.%d", err ? 2 : c.extension ? c.extension : c.object);
    err_free(&err);
}

static uint32_t samples(const uint8_t *frame, size_t size, uint32_t *rate)
{
    (void)frame;
    (void)size;
    (void)rate;
    return 1024;
}

const struct av_codec_row aac_codec = {
    .name = "AAC", .kind = AV_AUDIO,
    /* [FLV] E.4.2.1: always marked as 44 kHz stereo; the configuration has the real values */
    .flv = { .ids = { 10 }, .fourcc = { "mp4a" }, .legacy = true, .packet_type = true,
             .sound = 0x0f },
    .rtp = { .names = { "MPEG4-GENERIC" } },
    .parse = parse, .list_name = list_name, .samples = samples,
};
