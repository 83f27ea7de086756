/* SPDX-License-Identifier: MIT */
/* pull.h - one stream that is pulled; used only inside pull/rtsp.
 *
 * Its coroutine calls the server repeatedly, with pauses that grow, until the configuration removes
 * it or, on demand, no player is left. Each attempt starts with the current configuration.
 */
#ifndef PULL_RTSP_PULL_H
#define PULL_RTSP_PULL_H

#include "intake/rtsp.h"
#include "proto/rtsp/call.h"
#include "proto/sdp/sdp.h"
#include "pull/pull.h"
#include "pull/rtsp/spec.h"
#include "serve/rtsp/udp.h"

/* Transport of one medium of the description: channels of the connection, else -1; or a pair of
 * ports, else NULL. */
struct rtsp_pull_media {
    int rtp, rtcp;
    struct rtsp_udp *pair;
    struct rtsp_udp_peer *peer;
};

struct rtsp_pull {
    struct pull pull;
    struct rtsp_pull_spec spec;
    char *public_url;          /* its URL without user and password */
    char *host;

    struct rtsp_call call;
    struct rtsp_call_setup setup;
    struct rtsp_intake *rx;
    char *base;                /* base URL of relative controls */
    char *all;                 /* URL of the whole presentation */
    struct rtsp_pull_media media[SDP_MEDIA_MAX];
    unsigned transport;        /* index in spec.transport of the current attempt */
    bool try_next;             /* the transport failed: the next one is tried at once */
    bool publishing;
    co_usec wait_end;          /* end of its current wait if nothing arrives */
    co_usec packet_at;         /* time of the last media packet; 0: none yet */
    co_usec packets_since;     /* time of the first media packet */
    co_usec keepalive_at, check_at; /* time of the next keepalive; time of the next check */
    co_usec keepalive_max;     /* keepalive interval learned from the server's disconnect; 0:
                                * none */
    unsigned keepalives;       /* number of keepalives sent */
    co_usec missing_since;     /* without players since then; 0: has players */
    bool over;                 /* ends because it has no players */
    co_usec retry_at;          /* after a failure, time of the next call; 0: now */
};

void rtsp_pull_free(struct rtsp_pull *p); /* if it was never started */
err_t rtsp_pull_main(void *pull); /* co_fn; frees the pull at its end */

/* Returns true if the stream is wanted: it is pulled permanently, or has players, or had some
 * within `linger`. */
bool rtsp_pull_has_players(struct rtsp_pull *p);

/* session.c: one call from OPTIONS to TEARDOWN. ERR_RTSP_LOGIN; NULL: p->over. Yields. */
err_t rtsp_pull_session(struct rtsp_pull *p) __attribute__((warn_unused_result));

#endif
