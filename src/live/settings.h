/* SPDX-License-Identifier: MIT */
/* settings.h - what a live source has of its vhost's configuration. */
#ifndef LIVE_SETTINGS_H
#define LIVE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum live_jitter {
    LIVE_JITTER_FULL, /* starts at 0, monotonic, jumps mended */
    LIVE_JITTER_ZERO, /* starts at 0, else as it comes */
    LIVE_JITTER_OFF,  /* as it comes */
};

struct live_settings {
    bool gop_cache;              /* a player starts at the newest key frame, else at the next */
    bool mix_correct;            /* audio and video of a source leave in order of time */
    bool reduce_sequence_header; /* an unchanged decoder configuration is not sent again */
    enum live_jitter jitter;
    uint32_t gop_cache_max_frames; /* a longer group of pictures is not kept; 0: no limit */
    int64_t queue_length;          /* how far behind a player may be, us */
    int64_t audio_cache;           /* what of a stream without video is cached at most, us */
    size_t max_bytes;              /* what one stream, or one format of it, keeps at most */
    int config_changes;            /* changes.h; 0: no limit */
};

#endif
