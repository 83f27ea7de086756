/* SPDX-License-Identifier: MIT */
/* publisher.c - a fake publisher: generated frames of each codec go into a live source. */
#include "publisher.h"

#include "session/env.h"

#define VHOST "__defaultVhost__"

static uint8_t frame_buf[MEDIA_FRAME_MAX]; /* one thread publishes */

struct live_source *env_publish(struct session_env *env)
{
    struct live_settings set = session_live_settings(env->conf, conf_vhost_find(env->conf, VHOST));
    struct live_source *src = live_registry_get(env->streams, VHOST "/live/s", &set);

    assert_ok(live_source_begin(src, &me, &rule));
    return src;
}

void push_config_at(struct live_source *src, enum av_codec codec, int64_t ms)
{
    struct frame f = media_config_of(codec);

    f.dts = f.pts = AV_MS(ms);
    if (f.config)
        push(src, &f);
}

void push_config(struct live_source *src, enum av_codec codec)
{
    push_config_at(src, codec, 0);
}

void push_configs(struct live_source *src)
{
    push_config(src, AV_H264);
    push_config(src, AV_AAC);
}

static void push_dts(struct live_source *src, enum av_codec codec, bool key, int64_t dts, size_t size)
{
    struct frame f = media_make(codec, key ? 0 : 1, size, frame_buf);

    f.dts = f.pts = dts;
    push(src, &f);
}

void push_at(struct live_source *src, enum av_codec codec, bool key, int64_t ms, size_t size)
{
    push_dts(src, codec, key, AV_MS(ms), size);
}

struct frame push_made(struct live_source *src, enum av_codec codec, unsigned i, size_t size)
{
    struct frame f = media_make(codec, i, size, frame_buf);

    push(src, &f);
    return f;
}

void push_av(struct live_source *src, int64_t from, unsigned frames, unsigned gop, size_t size)
{
    int64_t sound = from;

    for (unsigned i = 0; i < frames; i++) {
        int64_t dts = from + i * AV_MS(40);

        push_dts(src, AV_H264, i % gop == 0, dts, size);
        for (; sound < dts + AV_MS(40); sound += 1920)
            push_dts(src, AV_AAC, false, sound, size);
    }
}
