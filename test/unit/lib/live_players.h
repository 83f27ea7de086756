/* SPDX-License-Identifier: MIT */
/* live_players.h - a format, packets with numbers, and players who check what they receive. */
#ifndef LIVE_PLAYERS_H
#define LIVE_PLAYERS_H

#include "live/consumer.h"
#include "live/impl.h"
#include "live/evictable.h"
#include "live/deferred_free.h"
#include "live/sender.h"
#include "live/source.h"
#include "peer.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The test's format: a packet as 8 bytes of its number and then its body. param[0] leaves configuration
 * out: 1 all of it, 2 that of video; 3 the frames, too. */
enum { ALL_OUT = 3 };

extern const struct live_takeover takeover_off;
extern const struct live_takeover takeover_stale;
extern const struct live_format plain_format;

/* A format with state: each packet with the number of earlier packets in front, key frames with
 * the size of the configuration, too. */
struct counting {
    uint8_t made, config_size;
};

void *counting_open(const uint32_t param[LIVE_PARAMS], const struct live_source *src);

extern const struct live_format counting_format;
extern const uint32_t no_param[LIVE_PARAMS];
extern const struct live_settings live_defaults;
extern struct live_publisher the_publisher;

void push_numbered(struct live_source *src, enum av_kind kind, bool key, bool config,
                   uint32_t number, uint32_t size, uint32_t ms);
struct live_source *source_begin(const struct live_settings *set);
struct live_source *source_registered(struct live_registry *r, const char *name);
void source_end(struct live_source *src);

/* Everything that a player received, packet by packet. */
struct player {
    struct live_consumer c;
    uint8_t *buf;
    size_t size, cap;
    uint32_t got[8192];
    unsigned n;
};

/* One turn that sends at most `most` bytes; returns the number sent. */
size_t player_take(struct player *p, size_t most, bool one);
struct player *player_join(struct live_source *src);
void player_leave(struct player *p);
void player_take_all(struct player *p);
void assert_got(const struct player *p, unsigned n, const uint32_t *want);

#endif
