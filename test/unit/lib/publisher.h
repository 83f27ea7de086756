/* SPDX-License-Identifier: MIT */
/* publisher.h - a fake publisher: generated frames of each codec go into a live source. */
#ifndef PUBLISHER_H
#define PUBLISHER_H

#include "live_media.h"
#include "rtp_media.h"

struct session_env;

/* Publishes __defaultVhost__/live/s there with this configuration. */
struct live_source *env_publish(struct session_env *env);

/* The configuration of a codec, at a time in ms; nothing for a codec without one. */
void push_config_at(struct live_source *src, enum av_codec codec, int64_t ms);
void push_config(struct live_source *src, enum av_codec codec);
/* Those of H.264 and AAC. */
void push_configs(struct live_source *src);
/* A frame of about this many bytes, at a time in ms. */
void push_at(struct live_source *src, enum av_codec codec, bool key, int64_t ms, size_t size);
/* The i-th frame of media_make(); valid until the next one. */
struct frame push_made(struct live_source *src, enum av_codec codec, unsigned i, size_t size);
/* 25 frames of H.264 a second, each `gop`-th a key frame, and AAC without gaps, from a time in 1/90000 s. */
void push_av(struct live_source *src, int64_t from, unsigned frames, unsigned gop, size_t size);

#endif
