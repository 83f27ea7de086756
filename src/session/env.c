/* SPDX-License-Identifier: MIT */
/* env.c - what conversations share: names of a stream, settings for live/. */
#include "session/env.h"

#include "base/must.h"

#include <stdlib.h>
#include <string.h>

static const char *copy(const char *text)
{
    char *made = must(strdup(text));

    return made;
}

struct session_stream session_stream_copy(const struct session_stream *s)
{
    return (struct session_stream){
        copy(s->vhost), copy(s->app), copy(s->name), copy(s->param), copy(s->tc_url),
        copy(s->page_url), copy(s->ip), copy(s->swf_url ? s->swf_url : ""),
    };
}

void session_stream_free(struct session_stream *s)
{
    const char *const texts[] = { s->vhost, s->app, s->name, s->param, s->tc_url, s->page_url,
                                  s->ip, s->swf_url };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        free((void *)(uintptr_t)texts[i]);
    *s = (struct session_stream){ 0 };
}

struct live_settings session_live_settings(const struct conf *conf, const struct conf_vhost *vhost)
{
    static const enum live_jitter jitter[] = {
        [CONF_JITTER_FULL] = LIVE_JITTER_FULL,
        [CONF_JITTER_ZERO] = LIVE_JITTER_ZERO,
        [CONF_JITTER_OFF] = LIVE_JITTER_OFF,
    };
    const struct conf_play *play = &vhost->play;

    return (struct live_settings){
        .gop_cache = play->gop_cache,
        .mix_correct = play->mix_correct,
        .reduce_sequence_header = play->reduce_sequence_header,
        .jitter = jitter[play->time_jitter],
        .gop_cache_max_frames = (uint32_t)play->gop_cache_max_frames,
        .queue_length = play->queue_length,
        .audio_cache = vhost->http_remux.enabled ? vhost->http_remux.fast_cache : 0,
        .max_bytes = (size_t)conf->limits.max_stream_size,
    };
}
