/* SPDX-License-Identifier: MIT */
/* track.c - the description of a track of an MP4 file. */
#include "format/mp4/track.h"

#include <string.h>

void mp4_track_init(struct mp4_track *t, uint32_t id, enum av_kind kind)
{
    *t = (struct mp4_track){ .id = id, .kind = kind };
    wr_init(&t->config, MP4_CONFIG_MAX);
}

void mp4_track_fini(struct mp4_track *t)
{
    wr_free(&t->config);
}

/* The ticks of an audio track are coded samples. */
static err_t describe(struct mp4_track *t, const struct frame *f)
{
    err_t err = av_info_parse(&t->info, t->codec, f->data, f->size);

    if (err)
        return err;
    t->timescale = f->kind == AV_AUDIO ? t->info.coded_rate : AV_CLOCK;
    return t->timescale ? NULL : err_new(ERR_CODEC, "audio without a sample rate");
}

/* The configuration waits for the first key frame. */
static err_t take_key_size(struct mp4_track *t, const struct frame *f, bool *changed)
{
    uint32_t width, height;

    if (!f->key || !av_codec_row(t->codec)->key_size(f->data, f->size, &width, &height))
        return NULL;
    *changed = width != t->info.width || height != t->info.height;
    t->info.width = width;
    t->info.height = height;
    return NULL;
}

/* Takes a frame that is not a configuration. *done: it changes nothing. */
static err_t take_frame(struct mp4_track *t, const struct frame *f, bool *changed, bool *done)
{
    const struct av_codec_row *row = av_codec_row(f->codec);

    *done = t->codec == f->codec || row->frame_config == 0;
    if (t->codec == f->codec)
        return row->key_size ? take_key_size(t, f, changed) : NULL;
    return *done ? err_new(ERR_CODEC, "%s before its configuration", row->name) : NULL;
}

err_t mp4_track_set(struct mp4_track *t, const struct frame *f, bool *changed)
{
    const struct av_codec_row *row = av_codec_row(f->codec);
    struct mp4_track old = *t;
    bool done;
    err_t err;

    *changed = false;
    if (!mp4_track_takes(f->codec))
        return err_new(ERR_UNSUPPORTED, "%s in MP4", row->name);
    if (!f->config) {
        err = take_frame(t, f, changed, &done);
        if (err || done)
            return err;
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
    if (row->key_size) {
        t->info.width = old.info.width;
        t->info.height = old.info.height;
    }
    t->config.len = 0;
    wr_bytes(&t->config, f->data, row->frame_config ? row->frame_config : f->size);
    *changed = true;
    return NULL;
}

const char *mp4_track_name(const struct mp4_track *t, char *buf, size_t size)
{
    return av_codec_list_name(t->codec, t->config.buf, t->config.len, buf, size);
}
