/* SPDX-License-Identifier: MIT */
/* rtmfp_player.h - a player of a live stream over RTMFP without a socket: the test runs its turns. */
#ifndef RTMFP_PLAYER_H
#define RTMFP_PLAYER_H

#include "env.h"
#include "serve/rtmfp/peer.h"
#include "wire/rtmfp.h"

#include "live_media.h" /* its names are short: last */

struct rtmfp_player {
    struct live_source *src;
    struct session_env *env;
    struct rtmfp_service service;
    struct rtmfp_peer peer;    /* the test owns its session */
    struct rtmfp_netstream n;  /* it will begin; the test owns its flows */
    struct rtmfp_wire *wire;   /* that of its stream */
};

/* A published source with these settings; the wire keeps this many bytes. */
void rtmfp_player_begin(struct rtmfp_player *p, const struct live_settings *set, size_t wire_bytes);
void rtmfp_player_end(struct rtmfp_player *p);
/* The service has closed it. */
bool rtmfp_player_is_closed(const struct rtmfp_player *p);

#endif
