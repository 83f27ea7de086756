/* SPDX-License-Identifier: MIT */
/* env.c - names of a stream, and the settings for live/. */
#include "session/env.h"

#include "base/must.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct stream_key *session_stream_key(const struct session_stream *s)
{
    return s->key ? stream_key_ref(s->key) : stream_key_new(s->vhost, s->app, s->name);
}

void session_stream_set_key(struct session_stream *s, struct stream_key *key)
{
    struct stream_key *old = s->key;

    s->key = key;
    s->vhost = key->vhost;
    s->app = key->app;
    s->name = key->name;
    (void)stream_key_unref(old);
}

static const char *behind(const char *text)
{
    return text + strlen(text) + 1;
}

struct session_stream session_stream_copy(const struct session_stream *s)
{
    struct session_stream made = { 0 };

    session_stream_set_key(&made, session_stream_key(s));
    made.who = must_print("%s%c%s%c%s%c%s%c%s", s->param, '\0', s->tc_url, '\0', s->page_url, '\0',
                          s->ip, '\0', text_or_empty(s->swf_url));
    made.param = made.who;
    made.tc_url = behind(made.param);
    made.page_url = behind(made.tc_url);
    made.ip = behind(made.page_url);
    made.swf_url = behind(made.ip);
    return made;
}

void session_stream_free(struct session_stream *s)
{
    (void)stream_key_unref(s->key);
    free(s->who);
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
        .config_changes = conf->limits.config_changes,
    };
}
