/* SPDX-License-Identifier: MIT */
/* serve.c - from the configuration to what live/ wants to know. */
#include "serve/serve.h"

struct live_settings serve_live_settings(const struct conf *conf, const struct conf_vhost *vhost)
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
