/* SPDX-License-Identifier: MIT */
/* settings.h - settings of a live source, from the configuration of its vhost. */
#ifndef LIVE_SETTINGS_H
#define LIVE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum live_jitter {
    LIVE_JITTER_FULL, /* starts at 0, monotonic, jumps are removed */
    LIVE_JITTER_ZERO, /* starts at 0, otherwise unchanged */
    LIVE_JITTER_OFF,  /* unchanged */
};

struct live_settings {
    bool gop_cache;              /* a player starts at the newest key frame, else at the next */
    bool mix_correct;            /* sorts audio and video by time */
    bool reduce_sequence_header; /* drops an unchanged decoder configuration */
    enum live_jitter jitter;
    uint32_t gop_cache_max_frames; /* a longer GOP is not kept; 0: no limit */
    int64_t queue_length;          /* maximum delay of a player, us */
    int64_t audio_cache;           /* maximum cache of a stream without video, us */
    size_t max_bytes;              /* maximum bytes of a stream, and of each of its wires */
    int config_changes;            /* limit of changes.h; 0: no limit */
};

#endif
