/* SPDX-License-Identifier: MIT */
/* connection.h - state of a session after connect, for connection.c, connect.c, netstream.c,
 * publish.c and publish_remote.c. */
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
    RTMFP_NETSTREAMS_MAX = 16,     /* streams of a connection that authorize, publish, play or
                                    * end */
    RTMFP_REPLY_MAX = 16 << 10,    /* bytes of one AMF message */
};

struct rtmfp_connection {
    struct session base;          /* vhost, app and callbacks; in no list of clients */
    struct rtmfp_peer *peer;
    struct rtmfp_flow_in *in;     /* flow that carried connect; NULL: closed */
    struct rtmfp_flow_out *out;   /* flow of the answers; NULL: closed */
    struct rtmfp_netstream *streams;
    struct rtmp_url url;          /* URL of its app */
    char *urls;                   /* tcUrl, pageUrl and swfUrl of the names */
    double transaction, encoding; /* from connect */
    uint32_t created;             /* streams created so far, which numbers them */
    bool enhanced;                /* the client uses E-RTMP */
    bool opus;                    /* the client announced Opus */
    bool open;                    /* admitted */
    /* on_connect allowed it, so on_close must be called */
    bool admitted_by_hook;
    struct co *authorizer;              /* coroutine that calls a backend; or NULL */
    char ip[UDP_TEXT];
    char cid[DATAGRAM_CID];
};

/* A published stream at its owner worker. */
struct rtmfp_publish {
    struct session_publisher publisher;
    struct rtmp_intake media;
    struct rtmfp_merge merge;
    struct co_timer timer;        /* delivers waiting messages */
    uint64_t lost;                /* messages the client abandoned */
    uint32_t sync, sync_left;     /* current Flow Sync, and flows that have not reached it */
    co_usec sync_until;           /* until when to wait for them */
    bool over;                    /* the client ended it */
};

/* ---- connect.c */
/* Opens the connection of this flow. An error says why it is refused; the peer then closes. */
void rtmfp_connect(struct rtmfp_peer *p, struct rtmfp_flow_in *f, const struct rtmp_command *c);
/* Calls on_close and frees the connection; none of its work may be in progress. */
void rtmfp_connection_free(struct rtmfp_connection *c);
/* Writes a reliable message on an outgoing flow; NULL: does nothing. */
void rtmfp_write(struct rtmfp_peer *p, struct rtmfp_flow_out *f, uint8_t type, uint32_t time,
               struct rtmfp_bytes body);
/* Writes an AMF body and frees it. */
void rtmfp_write_body(struct rtmfp_peer *p, struct rtmfp_flow_out *f, uint8_t type,
                      struct wr *body);

/* ---- publish.c: runs on the owner worker of the stream, in the coroutine s->co */
/* Admits the publisher with everything a publisher has; then the caller runs run() until it ends,
 * and end(). All yield. */
err_t rtmfp_publish_begin(struct rtmfp_publish *pub, struct session *s)
    __attribute__((warn_unused_result));
err_t rtmfp_publish_wait(struct rtmfp_publish *pub) __attribute__((warn_unused_result));
void rtmfp_publish_end(struct rtmfp_publish *pub, err_t why); /* `why` is borrowed */
/* Handles a message while it publishes: media, data or user control. Flow Sync says that several
 * flows must reach a point before later messages count (5.3.5): an end from the client waits up to
 * 2 s for media of its other flows. `behind`: part of one of its flows is missing but may still
 * arrive. `lost`: messages before this one that will not arrive. */
void rtmfp_publish_push(struct rtmfp_publish *pub, const struct rtmfp_rtmp_message *message,
                        bool behind, uint64_t lost);
/* The client ends the stream. */
void rtmfp_publish_close(struct rtmfp_publish *pub);

/* ---- publish_remote.c: the stream belongs to another worker, the session stays here */
/* Same as rtmfp_publish_run(), for a stream owned by another worker. */
err_t rtmfp_publish_remote_run(struct rtmfp_netstream *n, unsigned owner)
    __attribute__((warn_unused_result));
void rtmfp_publish_remote_push(struct rtmfp_publish_remote *a,
                               const struct rtmfp_rtmp_message *message, bool behind,
                               uint64_t lost);
/* Same as rtmfp_publish_close(); also before it is admitted. */
void rtmfp_publish_remote_close(struct rtmfp_publish_remote *a);

/* ---- netstream.c */
/* Returns the stream of this number that is not ending, or NULL. */
struct rtmfp_netstream *rtmfp_netstream_find(const struct rtmfp_connection *c, uint32_t number);
/* Handles publish or play: creates the stream and starts a coroutine that admits it. */
void rtmfp_netstream_begin(struct rtmfp_connection *c, struct rtmfp_flow_in *f, uint32_t number,
                           const char *name, bool publishes);
/* Ends a player without a coroutine, in the calling one: at shutdown no new coroutine starts. Takes
 * over `why`. Yields. */
void rtmfp_netstream_end(struct rtmfp_netstream *n, err_t why);
/* The client ends it: closeStream, deleteStream, FCUnpublish. */
void rtmfp_netstream_close(struct rtmfp_netstream *n, bool fc);
/* Notifies the client that publishing started, or ended. */
void rtmfp_netstream_published(struct rtmfp_netstream *n);
void rtmfp_netstream_unpublished(struct rtmfp_netstream *n);

#endif
