/* SPDX-License-Identifier: MIT */
/* rtmfp_talk.h - what a client of RTMFP says over flows: connect, and then play or publish.
 *
 * No I/O, nothing yields.
 */
#ifndef TOOLS_LOAD_RTMFP_TALK_H
#define TOOLS_LOAD_RTMFP_TALK_H

#include "proto/rtmfp/session.h"
#include "tools/load/media.h"
#include "tools/load/stat.h"

/* ---- rtmfp_feed.c: a file as messages of a publisher, each when it is due, round and round: audio
 * on a flow, video on a flow, data on that of commands. Video that waits for too long is given up,
 * and what follows it up to a key frame is left out. */

struct load_rtmfp_feed {
    const struct load_media *media;
    struct load_stat *stat;
    bool marker;                     /* put the clock into pictures */
    struct rtmfp_flow_out *data, *audio, *video; /* NULL: it is not there, or was rejected */
    struct load_play play;           /* of `media` NULL: it has not begun */
    uint32_t number;                 /* of pictures */
    bool until_key;
};

/* `data`: the flow that `publish` was said on; others like it are opened, which answer the peer's
 * flow `control`. False: there are too many. */
bool load_rtmfp_feed_begin(struct load_rtmfp_feed *f, struct rtmfp_session *s,
                           struct rtmfp_flow_out *data, const struct rtmfp_flow_in *control,
                           co_usec now);
/* What is due waits in its flows after it. */
void load_rtmfp_feed_run(struct load_rtmfp_feed *f, co_usec now);
co_usec load_rtmfp_feed_due(const struct load_rtmfp_feed *f);
/* A flow is gone. */
void load_rtmfp_feed_forget(struct load_rtmfp_feed *f, const struct rtmfp_flow_out *flow);

/* ---- rtmfp_talk.c */

struct load_client;

enum load_rtmfp_wants { LOAD_RTMFP_CONNECT, LOAD_RTMFP_PLAY, LOAD_RTMFP_PUBLISH };
enum load_rtmfp_told { LOAD_RTMFP_GOING_ON, LOAD_RTMFP_GRANTED, LOAD_RTMFP_DENIED };

struct load_answer { /* _result, _error or onStatus */
    int waits_for;    /* transaction id, 0: an onStatus */
    bool answered;    /* the reply that is waited for is there */
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

/* Of a URL of RTMFP; its last part is the name of a stream for who wants one. False: it is too
 * long, or has no such part. */
bool load_rtmfp_talk_init(struct load_rtmfp_talk *t, enum load_rtmfp_wants wants, const char *app,
                          const char *url);
void load_rtmfp_talk_fini(struct load_rtmfp_talk *t);
/* There are keys. */
void load_rtmfp_talk_begin(struct load_rtmfp_talk *t, struct rtmfp_session *s, co_usec now);
/* A message of a flow of the server's. `feed`: what a publisher that may now is to be like. */
enum load_rtmfp_told load_rtmfp_talk_hear(struct load_rtmfp_talk *t, struct rtmfp_session *s,
                                          const struct rtmfp_flow_in *f, struct rtmfp_bytes data,
                                          const struct load_rtmfp_feed *feed, co_usec now);
/* setPeerInfo, without addresses: who is told of it has what the server sees. */
void load_rtmfp_talk_tell(struct load_rtmfp_talk *t, co_usec now);
/* One of ours is gone. */
void load_rtmfp_talk_forget(struct load_rtmfp_talk *t, const struct rtmfp_flow_out *flow);

#endif
