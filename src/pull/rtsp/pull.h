/* SPDX-License-Identifier: MIT */
/* pull.h - one stream that is pulled; for the files serve/rtsp/pull*.c alone.
 *
 * Its coroutine calls the server again and again, with pauses between that grow, until the
 * configuration wants it no more, or nobody does who plays. Each try begins with what the
 * configuration says then.
 */
#ifndef PULL_RTSP_PULL_H
#define PULL_RTSP_PULL_H

#include "intake/rtsp.h"
#include "proto/rtsp/call.h"
#include "proto/sdp/sdp.h"
#include "pull/pull.h"
#include "pull/rtsp/spec.h"
#include "serve/rtsp/udp.h"

/* How media of the description come: by channels of the connection, else -1; or by a pair of ports,
 * else NULL. */
struct rtsp_pull_media {
    int rtp, rtcp;
    struct rtsp_udp *pair;
    struct rtsp_udp_peer *peer;
};

struct rtsp_pull {
    struct pull pull;
    struct rtsp_pull_spec want;
    char *shown;               /* its url, without user and password */
    char *host;

    struct rtsp_call call;
    struct rtsp_call_setup setup;
    struct rtsp_intake *rx;
    char *base;                /* what controls are relative to */
    char *all;                 /* url of all media together */
    struct rtsp_pull_media media[SDP_MEDIA_MAX];
    unsigned way;              /* of want.way, that is tried now */
    bool other_way;            /* it was in vain: the next one is tried at once */
    bool publishing;
    co_usec waits_until;       /* if nothing comes meanwhile */
    co_usec packet_at;         /* when one of media came; 0: none did yet */
    co_usec packets_since;     /* the first of them */
    co_usec alive_at, look_at; /* when it is to say something, and to look around, next */
    co_usec alive_most;        /* it wants to hear us so often, though it does not say so; 0: no */
    unsigned alives;           /* how often it did */
    co_usec missing_since;       /* nobody plays it; 0: somebody does */
    bool over;                 /* for want of players */
    co_usec again_at;          /* it fails: when the server is called again; 0: now */
};

void rtsp_pull_free(struct rtsp_pull *p); /* for one that was never started */
err_t rtsp_pull_main(void *pull); /* co_fn; frees it at its end */

/* Does anybody want it: who plays it, or lately did, or the configuration all the time? */
bool rtsp_pull_has_players(struct rtsp_pull *p);

/* session.c: one call, from its first word to its last. ERR_RTSP_LOGIN; NULL: p->over. Yields. */
err_t rtsp_pull_session(struct rtsp_pull *p) __attribute__((warn_unused_result));

#endif
