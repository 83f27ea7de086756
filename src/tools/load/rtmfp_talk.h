/* SPDX-License-Identifier: MIT */
/* rtmfp_talk.h - commands of an RTMFP client over its flows: connect, then play or publish.
 *
 * No I/O, nothing yields.
 */
#ifndef TOOLS_LOAD_RTMFP_TALK_H
#define TOOLS_LOAD_RTMFP_TALK_H

#include "proto/rtmfp/session.h"
#include "tools/load/media.h"
#include "tools/load/stat.h"

/* ---- rtmfp_feed.c: publishes a file in a loop. Audio and video have one flow each; data uses the
 * flow of the commands. Video that waits too long is dropped, and all video up to the next key
 * frame with it. */

struct load_rtmfp_feed {
    const struct load_media *media;
    struct load_stat *stat;
    bool marker;                     /* insert clock markers into the video */
    struct rtmfp_flow_out *data, *audio, *video; /* NULL: closed, rejected or not opened */
    struct load_play play;           /* play.media is NULL before the start */
    uint32_t number;                 /* of the next video frame */
    bool until_key;
};

/* Starts publishing. `data` is the flow that carried `publish`; opens the flows for audio and video
 * in answer to the peer's flow `control`. Returns false if there are too many flows. */
bool load_rtmfp_feed_begin(struct load_rtmfp_feed *f, struct rtmfp_session *s,
                           struct rtmfp_flow_out *data, const struct rtmfp_flow_in *control,
                           co_usec now);
/* Queues all messages that are due in their flows. */
void load_rtmfp_feed_run(struct load_rtmfp_feed *f, co_usec now);
co_usec load_rtmfp_feed_due(const struct load_rtmfp_feed *f);
/* Handles a closed flow. */
void load_rtmfp_feed_forget(struct load_rtmfp_feed *f, const struct rtmfp_flow_out *flow);

/* ---- rtmfp_talk.c */

struct load_client;

enum load_rtmfp_wants { LOAD_RTMFP_CONNECT, LOAD_RTMFP_PLAY, LOAD_RTMFP_PUBLISH };
enum load_rtmfp_told { LOAD_RTMFP_GOING_ON, LOAD_RTMFP_GRANTED, LOAD_RTMFP_DENIED };

struct load_answer { /* _result, _error or onStatus */
    int waits_for;    /* transaction id; 0: an onStatus */
    bool answered;    /* the expected reply has arrived */
    bool refused;
    double number;    /* of the reply: a stream id */
    char code[64];    /* of the last onStatus or _error */
};

struct load_rtmfp_talk {
    uint8_t wants, asked;            /* enum load_rtmfp_wants; what the answer is waited for of */
    const struct rtmfp_flow_in *control; /* the server's */
    struct rtmfp_flow_out *own, *stream; /* ours: control, and of the stream */
    struct load_rtmfp_feed *feed;    /* of a publisher that may */
    struct load_client *player;      /* who looks at media; or NULL */
    struct load_answer answer;
    char app[64], url[128], name[64];
};

/* Initializes *t for an RTMFP URL. To play or publish, the last part of the URL is the stream name.
 * Returns false if the URL is too long or has no stream name. */
bool load_rtmfp_talk_init(struct load_rtmfp_talk *t, enum load_rtmfp_wants wants, const char *app,
                          const char *url);
void load_rtmfp_talk_fini(struct load_rtmfp_talk *t);
/* Sends `connect`. Call it once the session has keys. */
void load_rtmfp_talk_begin(struct load_rtmfp_talk *t, struct rtmfp_session *s, co_usec now);
/* Handles a message of a server's flow. `feed`: template for the feed of an accepted publisher. */
enum load_rtmfp_told load_rtmfp_talk_hear(struct load_rtmfp_talk *t, struct rtmfp_session *s,
                                          const struct rtmfp_flow_in *f, struct rtmfp_bytes data,
                                          const struct load_rtmfp_feed *feed, co_usec now);
/* Sends setPeerInfo without addresses: other peers then get the address that the server sees. */
void load_rtmfp_talk_tell(struct load_rtmfp_talk *t, co_usec now);
/* Handles the end of one of our flows. */
void load_rtmfp_talk_forget(struct load_rtmfp_talk *t, const struct rtmfp_flow_out *flow);

#endif
