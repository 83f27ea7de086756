/* SPDX-License-Identifier: MIT */
/* connection.h - what a session has after connect, for connection.c, connect.c, netstream.c,
 * publish.c and away.c. */
#ifndef SERVE_RTMFP_CONNECTION_H
#define SERVE_RTMFP_CONNECTION_H

#include "intake/rtmp.h"
#include "proto/rtmfp/rtmp.h"
#include "proto/rtmp/command.h"
#include "proto/rtmp/reply.h"
#include "proto/rtmp/url.h"
#include "serve/rtmfp/merge.h"
#include "serve/rtmfp/peer.h"

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
    bool opus;                    /* it announced Opus */
    bool open;                    /* it was let in */
    bool told;                    /* on_connect let it in: on_close is to be told */
    struct co *asks;              /* a coroutine asks a backend; or NULL */
    char ip[UDP_TEXT];
    char cid[DATAGRAM_CID];
};

/* Of a stream that is published, at its home. */
struct rtmfp_publish {
    struct session_publisher publisher;
    struct rtmp_intake media;
    struct rtmfp_merge merge;
    struct co_timer timer;        /* what waits in it goes on */
    uint64_t lost;                /* messages that its client gave up */
    uint32_t sync, sync_left;     /* flows that have not come to that Flow Sync */
    co_usec sync_until;           /* they are waited for */
    bool over;                    /* it ended it by itself */
};

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

/* ---- publish.c: at the home of the stream, whose coroutine is s->co */
/* It is let in, with all that a publisher has: then run() it until it ends, and end() it. Yields,
 * as those do. */
err_t rtmfp_publish_begin(struct rtmfp_publish *pub, struct session *s)
    __attribute__((warn_unused_result));
err_t rtmfp_publish_wait(struct rtmfp_publish *pub) __attribute__((warn_unused_result));
void rtmfp_publish_end(struct rtmfp_publish *pub, err_t why); /* borrowed */
/* A message of it, while it publishes: media, data, or user control. Flow Sync says that a flow is
 * where some are to be before what comes next counts (5.3.5): an end that its client says waits
 * for media of its other flows until then, 2 s at most. `behind`: of one of its flows something
 * is missing, and may come. `lost`: so many messages before it will not come. */
void rtmfp_publish_push(struct rtmfp_publish *pub, const struct rtmfp_rtmp_message *said,
                        bool behind, uint64_t lost);
/* Its client has enough of it. */
void rtmfp_publish_close(struct rtmfp_publish *pub);

/* ---- away.c: its stream belongs to another worker, while its session stays here */
/* As rtmfp_publish_run(), there. */
err_t rtmfp_publish_remote_run(struct rtmfp_netstream *n, unsigned owner)
    __attribute__((warn_unused_result));
void rtmfp_publish_remote_push(struct rtmfp_publish_remote *a,
                               const struct rtmfp_rtmp_message *said, bool behind, uint64_t lost);
/* As rtmfp_publish_close(); also of one that was not let in yet. */
void rtmfp_publish_remote_close(struct rtmfp_publish_remote *a);

/* ---- netstream.c */
/* That one which is not about to end; NULL: there is none. */
struct rtmfp_netstream *rtmfp_netstream_find(const struct rtmfp_connection *c, uint32_t number);
/* publish or play: it comes to be, and a coroutine lets it in. */
void rtmfp_netstream_begin(struct rtmfp_connection *c, struct rtmfp_flow_in *f, uint32_t number,
                           const char *name, bool publishes);
/* A player without a coroutine ends by that error, which is taken over, in the one that calls: when
 * all is to end no other begins. Yields. */
void rtmfp_netstream_end(struct rtmfp_netstream *n, err_t why);
/* The client has enough of it: closeStream, deleteStream, FCUnpublish. */
void rtmfp_netstream_close(struct rtmfp_netstream *n, bool fc);
/* Its client is told that it publishes; or no longer. */
void rtmfp_netstream_published(struct rtmfp_netstream *n);
void rtmfp_netstream_unpublished(struct rtmfp_netstream *n);

#endif
