/* SPDX-License-Identifier: MIT */
/* track.c - what a track of an MP4 file holds. */
#include "format/mp4/track.h"

#include "av/aac.h"
#include "av/mp3.h"
#include "av/vp9.h"

#include <stdio.h>
#include <string.h>

void mp4_track_init(struct mp4_track *t, uint32_t id)
{
    *t = (struct mp4_track){ .id = id };
    wr_init(&t->config, MP4_CONFIG_MAX);
}

void mp4_track_fini(struct mp4_track *t)
{
    wr_free(&t->config);
}

bool mp4_track_takes(enum av_codec codec)
{
    switch (codec) {
    case AV_H264: case AV_H265: case AV_AV1: case AV_VP9:
    case AV_AAC: case AV_MP3: case AV_OPUS: case AV_FLAC:
        return true;
    default:
        return false;
    }
}

/* [FLAC] STREAMINFO after "fLaC" and a block header: 20 bits of rate from byte 10 on. */
static err_t flac_info(struct av_info *info, const uint8_t *p, size_t size)
{
    if (size < 8 + 34 || memcmp(p, "fLaC", 4) != 0 || (p[4] & 0x7f) != 0)
        return err_new(ERR_CODEC, "no FLAC STREAMINFO in %zu bytes", size);
    p += 8;
    info->sample_rate = (uint32_t)p[10] << 12 | (uint32_t)p[11] << 4 | p[12] >> 4;
    info->channels = (p[12] >> 1 & 7) + 1u;
    return info->sample_rate ? NULL : err_new(ERR_CODEC, "FLAC without a sample rate");
}

/* The ticks of an audio track: samples as the coder counts them, before SBR doubles them. */
static err_t audio_scale(struct mp4_track *t, const struct frame *f)
{
    struct aac_config aac;
    err_t err;

    t->timescale = t->info.sample_rate;
    if (t->codec == AV_AAC) {
        err = aac_asc_parse(&aac, f->data, f->size);
        if (err)
            return err;
        t->timescale = aac.core_rate;
    }
    return t->timescale ? NULL : err_new(ERR_CODEC, "audio without a sample rate");
}

static err_t describe(struct mp4_track *t, const struct frame *f)
{
    err_t err;

    if (t->codec == AV_FLAC) {
        t->info = (struct av_info){ 0 };
        err = flac_info(&t->info, f->data, f->size);
    } else {
        err = av_info_parse(&t->info, t->codec, f->data, f->size);
    }
    if (err)
        return err;
    if (f->kind == AV_AUDIO)
        return audio_scale(t, f);
    t->timescale = AV_CLOCK;
    return NULL;
}

/* VP9 says its size in key frames alone, so its configuration waits for the first of them. */
static err_t vp9_size(struct mp4_track *t, const struct frame *f, bool *changed)
{
    uint32_t width, height;

    if (!f->key || !vp9_key_size(f->data, f->size, &width, &height))
        return NULL;
    *changed = width != t->info.width || height != t->info.height;
    t->info.width = width;
    t->info.height = height;
    return NULL;
}

err_t mp4_track_set(struct mp4_track *t, const struct frame *f, bool *changed)
{
    struct mp4_track old = *t;
    err_t err;

    *changed = false;
    if (!mp4_track_takes(f->codec))
        return err_new(ERR_UNSUPPORTED, "%s in MP4", av_codec_name(f->codec));
    if (!f->config) {
        if (f->codec == AV_VP9 && t->codec == AV_VP9)
            return vp9_size(t, f, changed);
        if (f->codec != AV_MP3 || t->codec == AV_MP3)
            return t->codec == f->codec ? NULL
                                        : err_new(ERR_CODEC, "%s before its configuration",
                                                  av_codec_name(f->codec));
    } else if (f->codec == t->codec && f->size == t->config.len &&
               memcmp(f->data, t->config.buf, f->size) == 0) {
        return NULL;
    }
    if (f->config && f->size > (f->kind == AV_AUDIO ? MP4_AUDIO_CONFIG_MAX : MP4_CONFIG_MAX))
        return err_new(ERR_TOO_LARGE, "a configuration of %zu bytes", f->size);
    t->codec = f->codec;
    err = describe(t, f);
    if (err) {
        *t = old;
        return err;
    }
    if (t->codec == AV_VP9) {
        t->info.width = old.info.width;
        t->info.height = old.info.height;
    }
    t->config.len = 0;
    wr_bytes(&t->config, f->data, f->codec == AV_MP3 ? 4 : f->size);
    *changed = true;
    return NULL;
}

const char *mp4_track_name(const struct mp4_track *t, char *buf, size_t size)
{
    const uint8_t *c = t->config.buf;
    struct aac_config aac;
    err_t err;

    buf[0] = '\0';
    switch (t->codec) {
    case AV_H264:
        (void)snprintf(buf, size, "avc1.%02x%02x%02x", c[1], c[2], c[3]);
        break;
    case AV_H265: { /* [AVC-FF] annex E */
        uint32_t flags = 0;

        for (int i = 0; i < 32; i++) /* general_profile_compatibility_flags, bits reversed */
            flags |= (uint32_t)(c[2 + i / 8] >> (7 - i % 8) & 1) << i;
        (void)snprintf(buf, size, "hvc1.%.1s%d.%X.%c%d.%02X", &"\0ABC"[c[1] >> 6], c[1] & 0x1f,
                       flags, c[1] & 0x20 ? 'H' : 'L', c[12], c[6]);
        break;
    }
    case AV_AV1: /* [AV1-FF] 5 */
        (void)snprintf(buf, size, "av01.%d.%02d%c.%02d", c[1] >> 5, c[1] & 0x1f,
                       c[2] & 0x80 ? 'H' : 'M', c[2] & 0x40 ? c[2] & 0x20 ? 12 : 10 : 8);
        break;
    case AV_VP9: {
        const uint8_t *v = vp9_record(c, t->config.len);

        (void)snprintf(buf, size, "vp09.%02d.%02d.%02d", v[0], v[1], v[2] >> 4);
        break;
    }
    case AV_AAC:
        err = aac_asc_parse(&aac, c, t->config.len);
        (void)snprintf(buf, size, "mp4a.40.%d",
                       err ? 2 : aac.extension ? aac.extension : aac.object);
        err_free(&err);
        break;
    case AV_MP3:
        (void)snprintf(buf, size, "mp4a.40.34");
        break;
    case AV_OPUS:
        (void)snprintf(buf, size, "opus");
        break;
    case AV_FLAC:
        (void)snprintf(buf, size, "fLaC");
        break;
    default:
        break;
    }
    return buf;
}
