/* SPDX-License-Identifier: MIT */
/* connection.h - what a session has after connect, for connection*.c, netstream.c and publish.c. */
#ifndef SERVE_RTMFP_CONNECTION_H
#define SERVE_RTMFP_CONNECTION_H

#include "proto/rtmp/command.h"
#include "proto/rtmp/reply.h"
#include "proto/rtmp/url.h"
#include "serve/rtmfp/peer.h"
#include "serve/rtmfp/words.h"
#include "session/rtmp_media.h"

enum {
    RTMFP_NETSTREAMS_MAX = 16,     /* of a connection, that ask, publish, play or end */
    RTMFP_REPLY_MAX = 16 << 10,    /* bytes of one message of words */
};

struct rtmfp_connection {
    struct session base;          /* its vhost and app, and its callbacks; in no list */
    struct rtmfp_peer *peer;
    struct rtmfp_flow_in *in;     /* said connect; NULL: it is closed */
    struct rtmfp_flow_out *out;   /* answers it; NULL: it is gone */
    struct rtmfp_netstream *streams;
    struct rtmp_url url;          /* of its app */
    char *said;                   /* tcUrl, pageUrl and swfUrl of the names */
    double transaction, encoding; /* of connect */
    uint32_t created;             /* streams, so far: their numbers */
    bool enhanced;                /* it spoke of E-RTMP */
    bool open;                    /* it was let in */
    bool told;                    /* on_connect let it in: on_close is to be told */
    struct co *asks;              /* a coroutine asks a backend; or NULL */
    char ip[UDP_TEXT];
    char cid[RTMFP_CID];
};

struct rtmfp_publish {
    struct session_publisher publisher;
    struct rtmp_media media;
    uint64_t lost;                /* messages of flows that are closed */
    uint32_t sync, sync_left;     /* flows that have not come to that Flow Sync */
    co_usec sync_until;           /* they are waited for */
    bool over;                    /* it ended it by itself */
    bool fc;                      /* by FCUnpublish, which wants to be told */
};

/* The stream of a flow of RTMP, as its metadata said; false: the flow is a group's. */
bool rtmfp_flow_number(const struct rtmfp_flow_in *f, uint32_t *number);

/* ---- connect.c */
/* A connection begins with that flow. An error is why it is not let in; its peer leaves then. */
void rtmfp_connect(struct rtmfp_peer *p, struct rtmfp_flow_in *f, const struct rtmp_command *c);
/* Callbacks are told of its end, and it is freed: nothing of it is under way. */
void rtmfp_connection_free(struct rtmfp_connection *c);
/* Write a message that is never abandoned, on a flow of ours; NULL: to nobody. */
void rtmfp_say(struct rtmfp_peer *p, struct rtmfp_flow_out *f, uint8_t type, uint32_t time,
               struct rtmfp_bytes body);
/* A body of words; it is freed. */
void rtmfp_say_words(struct rtmfp_peer *p, struct rtmfp_flow_out *f, uint8_t type, struct wr *body);

/* ---- publish.c */
/* A flow of it is where `count` of them are to be before what comes next counts (5.3.5): the end
 * that its client says waits until then, 2 s at most, for media of its other flows. */
void rtmfp_publish_sync(struct rtmfp_publish *pub, uint32_t id, uint32_t count, co_usec now);

/* ---- netstream.c */
/* That one which is not about to end; NULL: there is none. */
struct rtmfp_netstream *rtmfp_netstream_find(const struct rtmfp_connection *c, uint32_t number);
/* publish or play: it comes to be, and a coroutine lets it in. */
void rtmfp_netstream_begin(struct rtmfp_connection *c, struct rtmfp_flow_in *f, uint32_t number,
                           const char *name, bool publishes);
/* The client has enough of it: closeStream, deleteStream, FCUnpublish. */
void rtmfp_netstream_close(struct rtmfp_netstream *n, bool fc);

#endif
