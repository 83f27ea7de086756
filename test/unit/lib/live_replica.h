/* SPDX-License-Identifier: MIT */
/* live_replica.h - a source, its replica on another worker, and players of both. */
#ifndef LIVE_REPLICA_H
#define LIVE_REPLICA_H

#include "base/iov.h"
#include "co/notify.h"
#include "live/consumer.h"
#include "live/impl.h"
#include "live/deferred_free.h"
#include "live/reader.h"
#include "live/sender.h"
#include "live/tap.h"
#include "peer.h"
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FRAME = 100, STREAM_MAX = 4 << 20 };

extern const struct live_takeover tap_takeover;
extern const uint32_t tap_param[LIVE_PARAMS];
extern const struct live_settings tap_settings;
extern struct live_publisher tap_publisher;

/* ---- formats: the first prints all of a packet, the second has state */

void tap_say(struct wr *w, const struct av_packet *pkt, int64_t dts);

extern const struct live_format format_all;
extern const struct live_format format_counts;

/* ---- players */

struct player {
    struct live_consumer c;
    struct wr got;
};

struct player *tap_player(struct live_source *src, const struct live_format *fmt);
void tap_player_leave(struct player *p);
void tap_play(struct player *p);

/* ---- a source with a replica */

struct pair {
    struct live_source *owner, *replica;
    struct live_tap *tap;
    unsigned raises;
    bool raised;
    uint32_t number, ms;
};

void pair_follow(struct pair *p);
void pair_unfollow(struct pair *p);
void pair_begin(struct pair *p);
struct pair pair_of(const struct live_settings *set);
void pair_end(struct pair *p);

/* Runs posted tasks, and handles raised wakeups. */
void pair_settle(struct pair *p);

/* A packet that begins with a number; `what`: a key frame, an inter frame, audio, configuration. */
void pair_push_sized(struct pair *p, char what, uint32_t size);
void pair_push(struct pair *p, const char *what);

/* ---- slow readers */

enum { GROUP = 50 };

void pair_push_groups(struct pair *p, unsigned packets, uint32_t size);

#endif
